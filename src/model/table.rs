//! A factor in time, piecewise linear.

/// Points (time [s], factor), times strictly ascending; constant before the first and after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Table(Vec<(f64, f64)>);

impl Default for Table {
    /// One at all times.
    fn default() -> Self {
        Table(vec![(0.0, 1.0)])
    }
}

impl Table {
    /// None unless there is a point and times are finite and strictly ascending.
    pub fn new(points: Vec<(f64, f64)>) -> Option<Self> {
        let finite = points.iter().all(|p| p.0.is_finite() && p.1.is_finite());
        let ascending = points.windows(2).all(|w| w[0].0 < w[1].0);
        (!points.is_empty() && finite && ascending).then_some(Table(points))
    }

    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }

    pub fn at(&self, time: f64) -> f64 {
        let after = self.0.partition_point(|p| p.0 <= time);
        match (after.checked_sub(1).map(|i| self.0[i]), self.0.get(after)) {
            (Some((t0, y0)), Some(&(t1, y1))) => y0 + (y1 - y0) * (time - t0) / (t1 - t0),
            (Some((_, y)), None) => y,
            (None, _) => self.0[0].1,
        }
    }

    /// Rate of the factor [1/s] just after `time`.
    pub fn rate(&self, time: f64) -> f64 {
        let after = self.0.partition_point(|p| p.0 <= time);
        match (after.checked_sub(1).map(|i| self.0[i]), self.0.get(after)) {
            (Some((t0, y0)), Some(&(t1, y1))) => (y1 - y0) / (t1 - t0),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_runs_straight_between_its_points_and_stays_at_its_ends() {
        let table = Table::new(vec![(1.0, 0.0), (2.0, 4.0), (4.0, 2.0)]).unwrap();
        for (t, y) in [(0.0, 0.0), (1.0, 0.0), (1.5, 2.0), (2.0, 4.0), (3.0, 3.0), (4.0, 2.0), (9.0, 2.0)] {
            assert_eq!(table.at(t), y);
        }
        for (t, rate) in [(0.0, 0.0), (1.0, 4.0), (1.9, 4.0), (2.0, -1.0), (4.0, 0.0)] {
            assert_eq!(table.rate(t), rate);
        }
        assert_eq!(Table::new(vec![]), None);
        assert_eq!(Table::new(vec![(1.0, 0.0), (1.0, 1.0)]), None);
        assert_eq!(Table::new(vec![(f64::NAN, 0.0)]), None);
    }
}
