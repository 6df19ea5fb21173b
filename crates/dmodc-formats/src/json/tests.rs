//! Fabrics that are written and read back, and the errors of texts that are wrong.

use super::*;
use dmodc::{FabricBuilder, Guid, GuidOrder, Lid, Pgft, PortNumber};

fn written(fabric: &Fabric) -> String {
    let mut text = Vec::new();
    write(fabric, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Returns a fabric with odd names and numbers, and with nodes in another order than their adapters.
fn awkward() -> Fabric {
    let product = Product { vendor: 0x2c9, device: u32::MAX, system: Guid(u64::MAX) };
    let mut b = FabricBuilder::new();
    let name = "a \"leaf\"\\ \u{1} ü\n".into();
    let s = b.switch(Switch { guid: Guid(1), lid: Lid::UNKNOWN, ports: 5, name, product });
    let [h, r, _] = [(2, "router"), (3, "aside"), (4, "host")].map(|(guid, name)| {
        let kind = KINDS.iter().find(|(_, word)| *word == name).unwrap().0;
        b.adapter(Adapter { guid: Guid(guid), ports: 2, kind, name: name.into(), product })
    });
    for (vertex, port, guid) in [(r, 2, 7), (h, 2, 2), (h, 1, 5)] {
        let port = PortNumber(port);
        b.end_port(vertex, port, Guid(guid), Lid(guid as u32 * 16), 3);
        let rate = if guid == 7 { Rate::default() } else { Rate::NDR };
        b.cable((vertex, port), (s, PortNumber(guid as u8 - 2).max(PortNumber(1))), rate);
    }
    b.finish().unwrap()
}

#[test]
fn a_fabric_reads_back_the_same() {
    for tuple in ["1; 3; 1; 1", "3; 2,2,3; 1,2,2; 1,2,1", "2; 18,16; 1,9; 1,2"] {
        let fabric = tuple.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(2));
        let text = written(&fabric);
        assert!(detect(text.as_bytes()));
        assert_eq!(read(text.as_bytes()), Ok(fabric));
    }
    let fabric = awkward();
    assert_eq!(fabric.nodes()[0].adapter.at(), 1);
    assert_eq!(read(written(&fabric).as_bytes()), Ok(fabric));
    let nothing = FabricBuilder::new().finish().unwrap();
    assert_eq!(read(written(&nothing).as_bytes()), Ok(nothing));
}

#[test]
fn the_text_is_as_documented() {
    let text = written(&"1; 1; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default()));
    let expected = r#"{
"schema": "dmodc/fabric/1",
"switches": [
{"guid":"0x02d0dc0100000001","lid":2,"ports":1,"name":"L1-0","vendor":53468,"device":2,"system":"0x02d0dc0100000001"}
],
"adapters": [
{"guid":"0x02d0dc0000000010","ports":1,"kind":"host","name":"node-0","vendor":53468,"device":1,"system":"0x02d0dc0000000010","end_ports":[{"port":1,"guid":"0x02d0dc0000000011","lid":1,"lmc":0}]}
],
"cables": [
{"a":{"guid":"0x02d0dc0100000001","port":1},"b":{"guid":"0x02d0dc0000000010","port":1},"rate":"4xNDR"}
]
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn errors_name_place_and_thing() {
    let text = written(&"1; 2; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default()));
    for (from, to, message) in [
        ("{", "x", "1:1: not JSON: expected value"),
        ("\"lid\":3", "\"lid\":3,,", "4:38: not JSON: key must be a string"),
        ("fabric/1", "fabric/2", "2:11: schema: expected \"dmodc/fabric/1\", the only"),
        ("\"schema\"", "\"scheme\"", "1:1: 'schema' is missing"),
        ("\"cables\"", "\"cable\"", "1:1: 'cables' is missing"),
        ("\"lid\":3,", "", "4:1: switches[0]: 'lid' is missing"),
        ("\"lid\":3", "\"lid\":-3", "4:36: switches[0].lid: expected a number from 0 to 2147"),
        ("\"ports\":2", "\"ports\":255", "4:46: switches[0].ports: expected a number from 0"),
        ("\"ports\":2", "\"ports\":1.5", "4:46: switches[0].ports: expected a number from 0"),
        ("0x02", "02", "4:9: switches[0].guid: expected a GUID such as"),
        ("\"L1-0\"", "null", "4:55: switches[0].name: expected a text, found null"),
        ("\"host\"", "\"guest\"", "7:47: adapters[0].kind: expected \"host\", \"aggregation\""),
        ("\"lmc\":0", "\"lmc\":8", "7:191: adapters[0].end_ports[0].lmc: expected a number"),
        ("},\"rate\"", "},\"speed\"", "11:1: cables[0]: 'rate' is missing"),
        ("4xNDR", "4x", "11:95: cables[0].rate: expected a width and speed such as"),
        ("\"cables\": [", "\"cables\": [7,", "10:12: cables[0]: expected an object, found 7"),
        ("\"b\":{\"guid\":\"0x0", "\"b\":{\"guid\":\"0x1", "11:57: cables[0].b.guid: no switch"),
        ("0000000020\",\"ports", "0000000010\",\"ports", "8:9: adapters[1].guid: device 0x02d0"),
    ] {
        assert!(text.contains(from), "{from}");
        let found = read(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
        assert!(found.starts_with(message), "{from} → {to}: {found}");
    }
    let twice = text.replace("\"port\":2}", "\"port\":1}");
    let found = read(twice.as_bytes()).unwrap_err().to_string();
    assert!(found.starts_with("12:1: two cables are in port 1 of 0x02d0dc01"), "{found}");
    assert!(read(b"").is_err() && read(b"[]").is_err() && read(b"{\"a\":\"\xff\"}").is_err());
}
