//! Memory that NumPy reads without a copy, by its array interface: an address, a shape and a type. NumPy keeps the object
//! alive as long as an array refers to it, so the memory stays as long as it is needed. This takes no unsafe code here and no
//! library for NumPy, and the module can be imported without NumPy.

use std::any::Any;
use std::sync::Arc;

use dmodc::ForwardingTables;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Memory that can only be read.
#[pyclass(frozen, module = "dmodc._native")]
pub(crate) struct View {
    /// What keeps the memory.
    _owner: Arc<dyn Any + Send + Sync>,
    address: usize,
    shape: Vec<usize>,
    /// The type of the numbers, in NumPy's notation.
    kind: &'static str,
}

impl View {
    /// Returns a view of numbers, which are kept as long as it is.
    pub(crate) fn of<T: Number>(numbers: Vec<T>, shape: Vec<usize>) -> Self {
        debug_assert_eq!(numbers.len(), shape.iter().product::<usize>(), "the shape fits");
        // The numbers do not move any more when their owner does.
        let address = numbers.as_ptr().addr();
        View { _owner: Arc::new(numbers), address, shape, kind: T::KIND }
    }

    /// Returns a view of every tile, switch by switch. The tables cannot change while there is one.
    pub(crate) fn of_tiles<O>(owner: &Arc<O>, tables: impl Fn(&O) -> &ForwardingTables) -> Vec<Self>
    where
        O: Send + Sync + 'static,
    {
        let tables = tables(owner);
        let view = |(tile, entries): (dmodc::Tile, &[u8])| View {
            _owner: owner.clone(),
            address: entries.as_ptr().addr(),
            shape: vec![tables.switch_count(), tile.columns.len()],
            kind: u8::KIND,
        };
        tables.tiles().map(view).collect()
    }
}

/// A type of numbers that NumPy knows.
pub(crate) trait Number: Send + Sync + 'static {
    const KIND: &'static str;
}

impl Number for u8 {
    const KIND: &'static str = "|u1";
}

impl Number for u32 {
    const KIND: &'static str = if cfg!(target_endian = "big") { ">u4" } else { "<u4" };
}

impl Number for u64 {
    const KIND: &'static str = if cfg!(target_endian = "big") { ">u8" } else { "<u8" };
}

impl Number for i64 {
    const KIND: &'static str = if cfg!(target_endian = "big") { ">i8" } else { "<i8" };
}

#[pymethods]
impl View {
    /// Returns NumPy's array interface, version 3.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", self.kind)?;
        interface.set_item("data", (self.address, true))?;
        Ok(interface)
    }
}
