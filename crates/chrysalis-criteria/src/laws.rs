/// Facts a method may rely on. Every `true` has a property test, every `false` a named counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laws {
    /// Two groups that pass still pass once merged (angel, Def. 5).
    pub monotone: bool,
    /// Only frequencies matter: repeating every row n times changes nothing.
    pub scale_free: bool,
}
