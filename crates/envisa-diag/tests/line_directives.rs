//! Lines that `#line` renumbers.

use envisa_diag::LineDirectives;

#[test]
fn lines_have_the_numbers_that_they_are_given() {
    assert_eq!(LineDirectives::of(b"a\n#if B\n#define C\n#endif // line 3\n"), None);
    let own = LineDirectives::of(b"a\n#line 7\nb\nc\n  #  line 2 \"x/y.cl\"\nd\n").expect("renumbered");
    assert_eq!([1, 2, 7, 8, 9].map(|n| own.line(n)), [Some(1), None, Some(3), Some(4), None]);
    let text = b"a\n# 5 \"x/y.cl\" 2\nb\n#line 9\nc\n";
    let other = |name: &'static str| LineDirectives::of_file(text, move |n| n == name);
    let there = other("x/y.cl").expect("named");
    assert_eq!([1, 5, 9].map(|n| there.line(n)), [None, Some(3), Some(5)]);
    assert_eq!(other("y.cl"), None);
    // A number that two lines have tells of neither.
    let twice = LineDirectives::of(b"a\nb\n#line 1\nc\n").expect("renumbered");
    assert_eq!([1, 2].map(|n| twice.line(n)), [None, Some(2)]);
}
