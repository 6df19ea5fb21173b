//! The rows that are measured, from the arguments.

use anyhow::{Context, Result, ensure};
use dmodc::Kernel;
use dmodc::fabric::Shape;
use dmodc_study::bench::{BenchCase, BenchSettings};
use dmodc_study::device::{Device, DeviceName};

use super::progress::checking;
use crate::args::{BenchArgs, Dead, EngineName, KernelName, MeasuredFabrics};
use crate::commands::generate::preset;

/// A fabric to measure on.
pub(super) struct Size {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// The option that selects it on a command line.
    pub(super) option: [String; 2],
}

/// A row that is to be measured.
pub(super) struct PlannedRow<'a> {
    pub(super) size: &'a Size,
    pub(super) dead: Dead,
    pub(super) engine: EngineName,
}

/// Returns the rows that the arguments ask for.
pub(super) fn planned_rows<'a>(args: &BenchArgs, sizes: &'a [Size]) -> Result<Vec<PlannedRow<'a>>> {
    let mut rows = Vec::new();
    for size in sizes {
        for engine in &args.engines {
            for &dead in &args.dead {
                // Dmodk is for healthy fabrics; its other rows are left out.
                if *engine.router() != EngineName::Dmodk
                    || (dead.cables == 0.0 && dead.switches == 0.0)
                {
                    rows.push(PlannedRow { size, dead, engine: engine.clone() });
                }
            }
        }
    }
    ensure!(
        !args.engines.iter().any(|engine| *engine.router() == EngineName::Random),
        "'dmodc bench' measures the engines dmodc, paper, stable and dmodk, not random"
    );
    ensure!(
        !args.engines.iter().any(|engine| matches!(engine, EngineName::Opensm(_))),
        "engines of OpenSM are measured with --with-opensm NAMES, not with --engine"
    );
    ensure!(
        !rows.is_empty(),
        "the engine dmodk routes only fabrics without faults; use --dead 0/0"
    );
    let is_streamed = |engine| matches!(engine, &EngineName::Dmodc | &EngineName::Stable);
    ensure!(
        !args.stream || args.engines.iter().all(is_streamed),
        "--stream works only with the engines dmodc and stable"
    );
    for (is_given, option) in [(args.changes.is_some(), "--changes"), (args.rewrite, "--rewrite")] {
        ensure!(
            !is_given || args.device == DeviceName::Cpu,
            "{option} is measured on the processor alone; leave out --device {}",
            args.device
        );
    }
    let is_dmodk = |engine: &EngineName| *engine.router() == EngineName::Dmodk;
    ensure!(
        args.against.is_none()
            || (args.device == DeviceName::Cpu && !args.engines.iter().any(is_dmodk)),
        "--against is measured on the processor, and with the engines dmodc, paper and stable"
    );
    Ok(rows)
}

/// Returns the fabrics that the arguments ask for, or the default.
pub(super) fn sizes(fabrics: &MeasuredFabrics, default: &str) -> Result<Vec<Size>> {
    let named = |name: &str| -> Result<Size> {
        let option = ["--preset".into(), name.into()];
        Ok(Size { name: name.into(), shape: preset(name)?.shape(), option })
    };
    let mut sizes: Vec<Size> =
        fabrics.presets.iter().map(|name| named(name)).collect::<Result<_>>()?;
    let tuples = fabrics.tuples.iter().cloned().map(Shape::Pgft);
    let directors = fabrics.directors.iter().cloned().map(Shape::Directors);
    let pods = fabrics.pods.iter().cloned().map(Shape::Pods);
    sizes.extend(tuples.chain(directors).chain(pods).map(|shape| {
        let notation = shape.to_string();
        let option = [format!("--{}", shape.kind()), notation.clone()];
        Size { name: notation, shape, option }
    }));
    if sizes.is_empty() {
        sizes.push(named(default)?);
    }
    Ok(sizes)
}

pub(super) fn kernel(name: Option<KernelName>) -> Result<Kernel> {
    let Some(name) = name else { return Ok(Kernel::best()) };
    let wanted = kernel_name(name);
    let known = Kernel::all();
    known.iter().copied().find(|kernel| kernel.name() == wanted).with_context(|| {
        let names: Vec<&str> = known.into_iter().map(Kernel::name).collect();
        format!("--kernel {wanted} does not run on this processor; use one of {}", names.join(", "))
    })
}

pub(super) fn kernel_name(name: KernelName) -> &'static str {
    match name {
        KernelName::Portable => "portable",
        KernelName::Avx2 => "avx2",
        KernelName::Avx512 => "avx512",
    }
}

pub(super) fn case(row: &PlannedRow<'_>, args: &BenchArgs) -> BenchCase {
    BenchCase {
        name: row.size.name.clone(),
        shape: row.size.shape.clone(),
        cables: row.dead.cables,
        switches: row.dead.switches,
        seed: args.seed,
        switch_lids: args.switch_lids,
    }
}

pub(super) fn settings(
    row: &PlannedRow<'_>,
    args: &BenchArgs,
    kernel: Kernel,
    device: Device,
) -> BenchSettings {
    BenchSettings {
        engine: row.engine.clone(),
        stream: args.stream,
        rounds: args.rounds as usize,
        kernel,
        check: !args.no_check,
        on_checked: checking,
        changes: args.changes,
        rewrite: args.rewrite,
        against: args.against.clone(),
        device,
    }
}
