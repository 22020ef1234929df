//! Which things are connected (union–find).

/// Things that are joined in pairs.
pub(super) struct Links {
    parent: Vec<u32>,
}

impl Links {
    pub(super) fn new(n: usize) -> Links {
        Links { parent: (0..n as u32).collect() }
    }

    /// The first of all things that are connected with this one.
    pub(super) fn root(&mut self, thing: u32) -> u32 {
        let mut root = thing;
        while self.parent[root as usize] != root {
            // Halves the path for later look-ups.
            let above = self.parent[root as usize];
            self.parent[root as usize] = self.parent[above as usize];
            root = self.parent[root as usize];
        }
        root
    }

    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
