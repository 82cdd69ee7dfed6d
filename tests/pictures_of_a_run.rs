mod folders;
use carom::look::*;
use std::time::Instant;
#[test]
fn view() {
    let base = folders::empty("pictures");
    let mk = |n: &str| { let d = base.join(n); std::fs::create_dir_all(&d).unwrap(); d };
    let (a,b,c,d) = (mk("bars"), mk("cubes"), mk("disc"), mk("line"));
    folders::two_bars(&a, 12); folders::cubes(&b, 60, 4, 4); folders::disc(&c, 12); folders::line_bars(&d, 12);
    let o = RenderOptions::default();
    for (dir, n, sel) in [(&a,"bars",Select::Frame(6)),(&b,"cubes",Select::Last),(&c,"disc",Select::Last),(&d,"line",Select::Frame(6))] {
        let t = Instant::now();
        render(dir, &RenderOptions{ select: sel, out: Some(base.join(format!("{n}.png"))), ..o.clone()}).unwrap();
        println!("{n} {:?}", t.elapsed());
    }
    let t = Instant::now();
    render(&b, &RenderOptions{ select: Select::Sheet{rows:2,columns:3}, field: Some(ColourBy::Body), out: Some(base.join("sheet.png")), size:(1600,900), ..o.clone()}).unwrap();
    println!("sheet {:?}", t.elapsed());
    render(&a, &RenderOptions{ select: Select::Frame(6), undeformed: true, theme: Theme::Dark, field: Some(ColourBy::Contact), view: Some("20,35".parse().unwrap()), out: Some(base.join("dark.png")), ..o.clone()}).unwrap();
    render(&b, &RenderOptions{ cut: Some("-y=0.1".parse().unwrap()), out: Some(base.join("cut.png")), ..o.clone()}).unwrap();
    let t = Instant::now();
    render(&b, &RenderOptions{ select: Select::All, out: Some(base.join("cubes.gif")), size:(960,600), ..o.clone()}).unwrap();
    println!("gif {:?} {}", t.elapsed(), std::fs::metadata(base.join("cubes.gif")).unwrap().len());
}
