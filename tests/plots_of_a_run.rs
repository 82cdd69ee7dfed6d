mod folders;
use carom::look::{PlotOptions, plot};
#[test]
fn view() {
    let dir = folders::empty("plots");
    folders::two_bars(&dir, 2);
    std::fs::write(dir.join("ref.csv"), "time,tip.ux,tip.vx,kinetic\n0,0,400,1000\n5e-4,0.2,400,900\n1e-3,0.2,-150,600\n").unwrap();
    let files = plot(&dir, &PlotOptions { references: vec![dir.join("ref.csv")], ..PlotOptions::default() }).unwrap();
    println!("{files:?}");
}
