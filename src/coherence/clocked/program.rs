//! What a core is to do, made as it is used: a long program costs no more memory than a short one.

use std::fmt;

/// Steps that can be told in advance how many they are, and copied with what is left of them.
trait Source<S>: ExactSizeIterator<Item = S> + Send {
    fn boxed_copy(&self) -> Box<dyn Source<S>>;
}

impl<S, T: ExactSizeIterator<Item = S> + Clone + Send + 'static> Source<S> for T {
    fn boxed_copy(&self) -> Box<dyn Source<S>> {
        Box::new(self.clone())
    }
}

/// The steps of a core that are still to come.
pub struct CoreProgram<S> {
    /// The next one.
    front: Option<S>,
    rest: Box<dyn Source<S>>,
}

impl<S> CoreProgram<S> {
    /// A program of these steps.
    pub fn new(steps: impl ExactSizeIterator<Item = S> + Clone + Send + 'static) -> CoreProgram<S> {
        let mut rest: Box<dyn Source<S>> = Box::new(steps);
        CoreProgram { front: rest.next(), rest }
    }

    /// The next step.
    pub fn front(&self) -> Option<&S> {
        self.front.as_ref()
    }
}

impl<S> Iterator for CoreProgram<S> {
    type Item = S;

    fn next(&mut self) -> Option<S> {
        std::mem::replace(&mut self.front, self.rest.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.front.is_some()) + self.rest.len();
        (left, Some(left))
    }
}

impl<S> ExactSizeIterator for CoreProgram<S> {}

impl<S: Clone> Clone for CoreProgram<S> {
    fn clone(&self) -> CoreProgram<S> {
        CoreProgram { front: self.front.clone(), rest: self.rest.boxed_copy() }
    }
}

impl<S> fmt::Debug for CoreProgram<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program of {} steps", self.len())
    }
}

impl<S: Clone + Send + 'static> Default for CoreProgram<S> {
    /// Nothing to do.
    fn default() -> CoreProgram<S> {
        CoreProgram::new(std::iter::empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_on_where_its_program_stands() {
        let mut program = CoreProgram::new((0..4_usize).map(|n| n * n));
        assert_eq!((program.len(), program.next(), program.front().copied()), (4, Some(0), Some(1)));
        let copy = program.clone();
        assert_eq!(program.by_ref().collect::<Vec<_>>(), [1, 4, 9]);
        assert_eq!((program.len(), program.next(), copy.len()), (0, None, 3));
        assert_eq!(copy.collect::<Vec<_>>(), [1, 4, 9]);
        assert_eq!(format!("{:?}", CoreProgram::<u8>::default()), "Program of 0 steps");
    }
}
