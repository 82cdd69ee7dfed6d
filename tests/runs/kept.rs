//! What is kept of a run, and that neither stops nor threads change it.

use crate::common::Run;
use carom::math::Vec3;
use carom::method::Method;
use carom::model::record::Record;
use carom::model::{Ledger, State};

impl<M: Method> Run<M> {
    pub fn record(&self) -> Record {
        kept(&self.state, &self.ledger, &self.method)
    }

    /// A fresh run goes on from a record.
    pub fn resumed(mut self, record: &Record) -> Self {
        self.state = State::restore(&self.model, record).unwrap();
        self.ledger = Ledger::restore(record).unwrap();
        self.method.restore(&self.model, record).unwrap();
        self
    }

    /// Momentum, and angular momentum about the origin, with the mass that the method has.
    pub fn momenta(&self) -> [Vec3; 2] {
        let lumped = || self.model.mass.iter().zip(&self.state.v).map(|(m, v)| *m * v).collect();
        let own = self.method.momenta(&self.model, &self.state.v).unwrap_or_else(lumped);
        let spin = own.iter().zip(&self.state.x).map(|(p, x)| x.cross(p)).sum();
        [own.iter().sum(), spin]
    }
}

/// All that is kept of a run.
pub fn kept(state: &State, ledger: &Ledger, method: &dyn Method) -> Record {
    let mut record = Record::default();
    state.save(&mut record);
    ledger.save(&mut record);
    method.save(&mut record);
    record
}

/// Saved in mid-contact at `stop` and resumed, with one thread and with two: the same bits at `end`.
pub fn stops_and_threads_change_nothing<M: Method>(make: impl Fn() -> Run<M> + Sync, [stop, end]: [f64; 2]) {
    let record = |threads: usize, stops: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut run = make();
            run.until(stop).unwrap();
            if stops {
                run = make().resumed(&run.record());
            }
            run.until(end).unwrap();
            assert!(run.ledger.contacts_peak > 0);
            run.record()
        })
    };
    let plain = record(1, false);
    assert_eq!(plain, record(2, false));
    assert_eq!(plain, record(2, true));
}
