//! Numbers that kernels compute with: one value, or as many as the processor's registers hold.
//!
//! A kernel is written once over [`Lane`] and runs three ways: on `f64` (tests, single points), on
//! [`Simd`] registers (a batch of elements side by side, instruction set chosen at run time by `pulp`),
//! and on [`Count`] (how many operations an element takes).
//!
//! Everything here is `#[inline(always)]`: one call that is not inlined leaves the context in which the
//! wide instructions exist.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// Most lanes a batch can have; connectivity is padded to a multiple of it.
pub const MAX_WIDTH: usize = 8;

/// A number, or several side by side.
pub trait Lane:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// What it takes to make a lane out of nothing.
    type Token: Copy;
    /// Numbers side by side.
    const WIDTH: usize;

    fn splat(token: Self::Token, x: f64) -> Self;
    /// Reads the first `WIDTH` numbers.
    fn load(token: Self::Token, from: &[f64; MAX_WIDTH]) -> Self;
    /// Writes the first `WIDTH` numbers.
    fn store(self, to: &mut [f64; MAX_WIDTH]);
    fn token(self) -> Self::Token;
    /// Four numbers of each record side by side: number k of record l is lane l of the k-th answer. Transposed in registers: what
    /// is written number by number and read as a whole waits for the memory in between.
    fn columns(token: Self::Token, record: impl Fn(usize) -> [f64; 4]) -> [Self; 4];
    /// The inverse: lane l of the k-th column becomes number k of `records[l]`.
    fn records(columns: [Self; 4], records: &mut [[f64; 4]; MAX_WIDTH]);

    /// `self * b + c`, fused where the processor can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c − self * b`, fused where the processor can.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    fn sqrt(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// `if self < than { yes } else { no }`, lane by lane.
    fn if_less(self, than: Self, yes: Self, no: Self) -> Self;
    /// Splits a positive normal number into (m, k) with `self = m 2ᵏ`, `1 ≤ m < 2`.
    fn split_exponent(self) -> (Self, Self);
    /// `2ᵏ` for a whole `k` with `|k| ≤ 1022`.
    fn power_of_two(k: Self) -> Self;

    /// The same kind of lane, all equal to `x`.
    #[inline(always)]
    fn of(self, x: f64) -> Self {
        Self::splat(self.token(), x)
    }

    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.max(-self)
    }
}

impl Lane for f64 {
    type Token = ();
    const WIDTH: usize = 1;

    #[inline(always)]
    fn splat((): (), x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn load((): (), from: &[f64; MAX_WIDTH]) -> Self {
        from[0]
    }
    #[inline(always)]
    fn store(self, to: &mut [f64; MAX_WIDTH]) {
        to[0] = self;
    }
    #[inline(always)]
    fn token(self) {}
    #[inline(always)]
    fn columns((): (), record: impl Fn(usize) -> [f64; 4]) -> [Self; 4] {
        record(0)
    }
    #[inline(always)]
    fn records(columns: [Self; 4], records: &mut [[f64; 4]; MAX_WIDTH]) {
        records[0] = columns;
    }
    // `f64::mul_add` is a library call where no fused instruction is enabled.
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        c - self * b
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        f64::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }
    #[inline(always)]
    fn if_less(self, than: Self, yes: Self, no: Self) -> Self {
        if self < than { yes } else { no }
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let bits = self.to_bits();
        let m = f64::from_bits((bits & MANTISSA) | ONE);
        (m, ((bits >> 52) & 0x7ff) as f64 - 1023.0)
    }
    #[inline(always)]
    fn power_of_two(k: Self) -> Self {
        f64::from_bits(((k + 1023.0) as u64) << 52)
    }
}

const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;
/// 2⁵²: a double whose last place is worth one, so that its mantissa holds a whole number.
const WHOLE: f64 = 4503599627370496.0;
const TWO_32: f64 = 4294967296.0;

/// As many numbers as one register holds, with the proof `S` that the instructions exist.
#[derive(Clone, Copy)]
pub struct Simd<S: pulp::Simd> {
    simd: S,
    v: S::f64s,
}

impl<S: pulp::Simd> Simd<S> {
    #[inline(always)]
    fn with(self, v: S::f64s) -> Self {
        Self { simd: self.simd, v }
    }

    /// Four columns of records, in an order of lanes that is the processor's own.
    #[inline(always)]
    fn split(simd: S, records: &[[f64; 4]; MAX_WIDTH]) -> [S::f64s; 4] {
        let v = S::as_simd_f64s(records.as_flattened()).0;
        simd.deinterleave_shfl_f64s([v[0], v[1], v[2], v[3]])
    }

    /// Where a record has to stand for [`Simd::split`] to leave it in lane l: asked with records that say where they stand, which the
    /// compiler answers.
    #[inline(always)]
    fn order(simd: S) -> [usize; MAX_WIDTH] {
        let mut places = [[0.0; 4]; MAX_WIDTH];
        for (place, record) in places.iter_mut().enumerate() {
            *record = [place as f64; 4];
        }
        let mut order = [0.0; MAX_WIDTH];
        S::as_mut_simd_f64s(&mut order).0[0] = Self::split(simd, &places)[0];
        order.map(|place| place as usize)
    }
}

impl<S: pulp::Simd> Add for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.with(self.simd.add_f64s(self.v, o.v))
    }
}
impl<S: pulp::Simd> Sub for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.with(self.simd.sub_f64s(self.v, o.v))
    }
}
impl<S: pulp::Simd> Mul for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.with(self.simd.mul_f64s(self.v, o.v))
    }
}
impl<S: pulp::Simd> Div for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        self.with(self.simd.div_f64s(self.v, o.v))
    }
}
impl<S: pulp::Simd> Neg for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.with(self.simd.neg_f64s(self.v))
    }
}
impl<S: pulp::Simd> AddAssign for Simd<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<S: pulp::Simd> Add<f64> for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: f64) -> Self {
        self + self.of(o)
    }
}
impl<S: pulp::Simd> Sub<f64> for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: f64) -> Self {
        self - self.of(o)
    }
}
impl<S: pulp::Simd> Mul<f64> for Simd<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: f64) -> Self {
        self * self.of(o)
    }
}

impl<S: pulp::Simd> Lane for Simd<S> {
    type Token = S;
    const WIDTH: usize = S::F64_LANES;

    #[inline(always)]
    fn splat(simd: S, x: f64) -> Self {
        Self { simd, v: simd.splat_f64s(x) }
    }
    #[inline(always)]
    fn load(simd: S, from: &[f64; MAX_WIDTH]) -> Self {
        Self { simd, v: S::as_simd_f64s(from).0[0] }
    }
    #[inline(always)]
    fn store(self, to: &mut [f64; MAX_WIDTH]) {
        S::as_mut_simd_f64s(to).0[0] = self.v;
    }
    #[inline(always)]
    fn token(self) -> S {
        self.simd
    }
    #[inline(always)]
    fn columns(simd: S, record: impl Fn(usize) -> [f64; 4]) -> [Self; 4] {
        let order = Self::order(simd);
        let mut records = [[0.0; 4]; MAX_WIDTH];
        for l in 0..Self::WIDTH {
            records[order[l]] = record(l);
        }
        Self::split(simd, &records).map(|v| Self { simd, v })
    }
    #[inline(always)]
    fn records(columns: [Self; 4], records: &mut [[f64; 4]; MAX_WIDTH]) {
        let simd = columns[0].simd;
        let order = Self::order(simd);
        let joined = simd.interleave_shfl_f64s(columns.map(|c| c.v));
        let mut shuffled = [[0.0; 4]; MAX_WIDTH];
        S::as_mut_simd_f64s(shuffled.as_flattened_mut()).0[..4].copy_from_slice(&joined);
        for l in 0..Self::WIDTH {
            records[l] = shuffled[order[l]];
        }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.with(self.simd.mul_add_e_f64s(self.v, b.v, c.v))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        self.with(self.simd.negate_mul_add_e_f64s(self.v, b.v, c.v))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.with(self.simd.sqrt_f64s(self.v))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(self.simd.min_f64s(self.v, other.v))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(self.simd.max_f64s(self.v, other.v))
    }
    #[inline(always)]
    fn if_less(self, than: Self, yes: Self, no: Self) -> Self {
        let mask = self.simd.less_than_f64s(self.v, than.v);
        self.with(self.simd.select_f64s(mask, yes.v, no.v))
    }
    // The processor families share no 64-bit shift, so the exponent moves within the upper half of each
    // number: as a whole number e at bit 32 of a double 2⁵² + e 2³². (`bytemuck::cast` compares sizes when
    // compiled; a register of one number has no halves.)
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        if Self::WIDTH == 1 {
            let (m, k) = bytemuck::cast::<_, f64>(self.v).split_exponent();
            return (self.of(m), self.of(k));
        }
        let s = self.simd;
        let bits = s.transmute_u64s_f64s(self.v);
        let m = s.or_u64s(s.and_u64s(bits, s.splat_u64s(MANTISSA)), s.splat_u64s(ONE));
        let halves: S::u32s = bytemuck::cast(s.and_u64s(bits, s.splat_u64s(0x7ff << 52)));
        let exponent: S::u64s = bytemuck::cast(s.wrapping_dyn_shr_u32s(halves, s.splat_u32s(20)));
        let whole = s.transmute_f64s_u64s(s.or_u64s(exponent, s.splat_u64s(WHOLE.to_bits())));
        let k = (self.with(whole) - WHOLE) * (1.0 / TWO_32) - 1023.0;
        (self.with(s.transmute_f64s_u64s(m)), k)
    }
    #[inline(always)]
    fn power_of_two(k: Self) -> Self {
        if Self::WIDTH == 1 {
            return k.of(f64::power_of_two(bytemuck::cast(k.v)));
        }
        let s = k.simd;
        let at_bit_32 = (k + 1023.0) * TWO_32 + WHOLE;
        let halves: S::u32s = bytemuck::cast(s.transmute_u64s_f64s(at_bit_32.v));
        let bits: S::u64s = bytemuck::cast(s.wrapping_dyn_shl_u32s(halves, s.splat_u32s(20)));
        k.with(s.transmute_f64s_u64s(bits))
    }
}

/// A computation that runs on any lane.
pub trait OnLanes {
    type Output;
    fn run<L: Lane>(self, token: L::Token) -> Self::Output;
}

/// Runs a computation on the widest registers this machine has.
pub fn dispatch<O: OnLanes>(computation: O) -> O::Output {
    #[cfg(target_arch = "x86_64")]
    if let pulp::Arch::V4(simd) = pulp::Arch::new() {
        return pulp::Simd::vectorize(simd, Wide(computation));
    }
    dispatch_rarely(computation)
}

/// Runs a computation on registers of at most four numbers: for what is done now and then, and is not worth one more
/// copy of every kernel to compile. The bits are the same.
pub fn dispatch_rarely<O: OnLanes>(computation: O) -> O::Output {
    // A machine without wide registers takes plain numbers; `pulp`'s own scalar lane would be a copy too.
    #[cfg(target_arch = "x86_64")]
    return match pulp::x86::V3::try_new() {
        Some(simd) => pulp::Simd::vectorize(simd, Wide(computation)),
        None => computation.run::<f64>(()),
    };
    #[cfg(not(target_arch = "x86_64"))]
    return pulp::Arch::new().dispatch(Wide(computation));
}

struct Wide<O>(O);

impl<O: OnLanes> pulp::WithSimd for Wide<O> {
    type Output = O::Output;
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> O::Output {
        self.0.run::<Simd<S>>(simd)
    }
}

thread_local! {
    static FLOPS: Cell<u64> = const { Cell::new(0) };
}

/// A number that counts what is done with it: fused multiply-add 2, every other operation 1.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub f64);

impl Count {
    /// Operations counted on this thread since the last call.
    pub fn take() -> u64 {
        FLOPS.with(|c| c.replace(0))
    }

    #[inline(always)]
    fn tally(n: u64, x: f64) -> Self {
        FLOPS.with(|c| c.set(c.get() + n));
        Count(x)
    }
}

macro_rules! count_operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Count {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Count::tally(1, self.0 $op o.0)
            }
        }
    };
    ($trait:ident, $method:ident, $op:tt, f64) => {
        impl $trait<f64> for Count {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: f64) -> Self {
                Count::tally(1, self.0 $op o)
            }
        }
    };
}
count_operator!(Add, add, +);
count_operator!(Sub, sub, -);
count_operator!(Mul, mul, *);
count_operator!(Div, div, /);
count_operator!(Add, add, +, f64);
count_operator!(Sub, sub, -, f64);
count_operator!(Mul, mul, *, f64);

impl AddAssign for Count {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl Neg for Count {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Count(-self.0)
    }
}

impl Lane for Count {
    type Token = ();
    const WIDTH: usize = 1;

    fn splat((): (), x: f64) -> Self {
        Count(x)
    }
    fn load((): (), from: &[f64; MAX_WIDTH]) -> Self {
        Count(from[0])
    }
    fn store(self, to: &mut [f64; MAX_WIDTH]) {
        to[0] = self.0;
    }
    fn token(self) {}
    fn columns((): (), record: impl Fn(usize) -> [f64; 4]) -> [Self; 4] {
        record(0).map(Count)
    }
    fn records(columns: [Self; 4], records: &mut [[f64; 4]; MAX_WIDTH]) {
        records[0] = columns.map(|c| c.0);
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        Count::tally(2, self.0 * b.0 + c.0)
    }
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Count::tally(2, c.0 - self.0 * b.0)
    }
    fn sqrt(self) -> Self {
        Count::tally(1, self.0.sqrt())
    }
    fn min(self, other: Self) -> Self {
        Count::tally(1, self.0.min(other.0))
    }
    fn max(self, other: Self) -> Self {
        Count::tally(1, self.0.max(other.0))
    }
    fn if_less(self, than: Self, yes: Self, no: Self) -> Self {
        Count::tally(1, self.0.if_less(than.0, yes.0, no.0))
    }
    fn split_exponent(self) -> (Self, Self) {
        let (m, k) = self.0.split_exponent();
        (Count::tally(3, m), Count(k))
    }
    fn power_of_two(k: Self) -> Self {
        Count::tally(2, f64::power_of_two(k.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `f` on every lane type of this machine and returns what each makes of `x`.
    struct OnEach<'a>(&'a [f64; MAX_WIDTH]);
    impl pulp::WithSimd for OnEach<'_> {
        type Output = (Vec<f64>, Vec<f64>, Vec<f64>);
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) -> Self::Output {
            let x = Simd::<S>::load(simd, self.0);
            let (m, k) = x.split_exponent();
            let (mut a, mut b, mut c) = ([0.0; MAX_WIDTH], [0.0; MAX_WIDTH], [0.0; MAX_WIDTH]);
            m.store(&mut a);
            k.store(&mut b);
            Simd::<S>::power_of_two(k).store(&mut c);
            let w = Simd::<S>::WIDTH;
            (a[..w].to_vec(), b[..w].to_vec(), c[..w].to_vec())
        }
    }

    #[test]
    fn registers_split_and_join_exponents_like_scalars() {
        let x = [1.0, 0.75, 3.5, 1e-300, 1e300, 2.0_f64.powi(-1022), 0.1, 123456.789];
        let (m, k, p) = pulp::Arch::new().dispatch(OnEach(&x));
        for i in 0..m.len() {
            let (ms, ks) = x[i].split_exponent();
            assert_eq!((m[i], k[i]), (ms, ks));
            assert_eq!(p[i], f64::power_of_two(ks));
            assert_eq!(m[i] * p[i], x[i]);
        }
    }

    /// Numbers of all records by columns, and the records made of those columns again.
    struct ThereAndBack;
    impl OnLanes for ThereAndBack {
        type Output = (usize, [[f64; MAX_WIDTH]; 4], [[f64; 4]; MAX_WIDTH]);
        #[inline(always)]
        fn run<L: Lane>(self, token: L::Token) -> Self::Output {
            let columns = L::columns(token, |l| [0.0, 1.0, 2.0, 3.0].map(|k| 10.0 * l as f64 + k));
            let (mut numbers, mut records) = ([[0.0; MAX_WIDTH]; 4], [[0.0; 4]; MAX_WIDTH]);
            for (to, column) in numbers.iter_mut().zip(columns) {
                column.store(to);
            }
            L::records(columns, &mut records);
            (L::WIDTH, numbers, records)
        }
    }

    #[test]
    fn records_become_columns_in_the_order_of_lanes_and_come_back() {
        let all = [dispatch(ThereAndBack), dispatch_rarely(ThereAndBack), ThereAndBack.run::<f64>(())];
        for (width, columns, records) in all {
            for l in 0..width {
                for k in 0..4 {
                    let number = (10 * l + k) as f64;
                    assert_eq!((columns[k][l], records[l][k]), (number, number), "{width} lanes");
                }
            }
        }
    }

    #[test]
    fn counting_lane_counts_a_fused_operation_twice() {
        Count::take();
        let a = Count(2.0);
        let b = a.mul_add(a, a) * a - 1.0;
        assert_eq!(b.0, 11.0);
        assert_eq!(Count::take(), 4);
    }
}
