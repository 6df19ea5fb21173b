use super::*;

#[test]
fn tuples_are_read_in_all_spellings() {
    let expected = Pgft::new(vec![2, 2, 3], vec![1, 2, 2], vec![1, 2, 1]).unwrap();
    for text in [
        "3; 2,2,3; 1,2,2; 1,2,1",
        "3;2.2.3;1.2.2;1.2.1",
        "PGFT(3;2.2.3;1.2.2;1.2.1)",
        " pgft ( 3 ; 2, 2, 3 ; 1, 2, 2 ; 1, 2, 1 ) ",
    ] {
        assert_eq!(text.parse().as_ref(), Ok(&expected), "{text}");
    }
    assert_eq!(expected.to_string().parse(), Ok(expected));
}

#[test]
fn what_cannot_be_built_is_refused_with_the_reason() {
    let refuse = |text: &str| text.parse::<Pgft>().unwrap_err();
    assert!(matches!(refuse("3; 2,2; 1,2; 1,2"), PgftError::Lengths(3)));
    assert!(matches!(refuse("2; 2,2; 1,2,2; 1,2"), PgftError::Lengths(2)));
    assert!(matches!(refuse("0; ; ; "), PgftError::Syntax(_)));
    for text in ["", "x", "2; 2,2; 1,2", "2; 2,-2; 1,2; 1,2", "PGFT(1;2;1;1", "1;99999999999;1;1"] {
        assert!(matches!(refuse(text), PgftError::Syntax(_)), "{text}");
    }
    assert_eq!(refuse("2; 0,2; 1,2; 1,2"), PgftError::Zero);
    assert_eq!(refuse("2; 2,2; 2,2; 1,2"), PgftError::NodeCables);
    assert_eq!(refuse("2; 2,2; 1,2; 2,2"), PgftError::NodeCables);
    assert_eq!(refuse("1; 255; 1; 1"), PgftError::Ports(1, 255));
    assert_eq!(refuse("2; 200,2; 1,30; 1,2"), PgftError::Ports(1, 260));
    assert_eq!(refuse("4; 200,200,200,200; 1,1,1,1; 1,1,1,1"), PgftError::TooLarge);
    let huge =
        format!("64; {}; {}; {}", ["200"; 64].join(","), ["1"; 64].join(","), ["1"; 64].join(","));
    assert_eq!(refuse(&huge), PgftError::TooLarge);
    assert!("1; 254; 1; 1".parse::<Pgft>().is_ok());
    let ones = |h: usize| Pgft::new(vec![1; h], vec![1; h], vec![1; h]);
    assert_eq!(ones(129), Err(PgftError::Levels(129)));
    assert_eq!(ones(128).unwrap().fabric(GuidOrder::Topological).switches().len(), 128);
}

#[test]
fn digits_and_indices_are_inverse() {
    let pgft: Pgft = "3; 2,3,4; 1,3,2; 1,1,2".parse().unwrap();
    for l in 0..=3 {
        for i in 0..pgft.count(l) {
            assert_eq!(pgft.index(l, &pgft.digits(l, i)), i);
        }
    }
}

#[test]
fn lids_leave_infiniband_where_they_must() {
    let small = "2; 4,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(GuidOrder::Topological);
    assert!(small.nodes().iter().map(|n| n.lid.0).eq(1..=8));
    assert!(small.switches().iter().map(|s| s.lid.0).eq(9..=12));
    let large: Pgft = "3; 100,50,10; 1,2,2; 1,1,1".parse().unwrap();
    let large = large.fabric(GuidOrder::Shuffled(3));
    assert_eq!(large.nodes()[0].lid, Lid::FIRST_EXTENDED);
    assert!(large.infiniband_lids().is_err());
}
