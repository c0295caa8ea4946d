//! A small thread pool for tasks that create more tasks.
//!
//! The newest task is taken first. A tree is therefore walked depth-first, and only few directories are open at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The waiting tasks.
pub(crate) struct TaskQueue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    waiting: Vec<T>,
    n_busy: usize,
    /// Threads that wait for a task.
    n_idle: usize,
}

impl<T> TaskQueue<T> {
    /// Adds tasks; the last of them is taken first. Wakes other threads only if some sleep: each wake is a system call,
    /// and most directories have few children.
    pub(crate) fn push(&self, tasks: impl IntoIterator<Item = T>) {
        let mut state = self.lock();
        let before = state.waiting.len();
        state.waiting.extend(tasks);
        let n_woken = state.n_idle.min(state.waiting.len() - before);
        drop(state);
        for _ in 0..n_woken {
            self.changed.notify_one();
        }
    }

    /// Waits for a task; `None` once nothing waits and no running task could add more.
    fn take(&self) -> Option<(T, BusyGuard<'_, T>)> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.waiting.pop() {
                state.n_busy += 1;
                return Some((task, BusyGuard(self)));
            }
            if state.n_busy == 0 {
                return None;
            }
            state.n_idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.n_idle -= 1;
        }
    }

    /// The state is a list and a number, both consistent at every step, so a panic elsewhere does not corrupt it.
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held while a task runs. It also counts down on a panic, because the other threads would otherwise wait forever.
struct BusyGuard<'a, T>(&'a TaskQueue<T>);

impl<T> Drop for BusyGuard<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.n_busy -= 1;
        if state.n_busy == 0 && state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
    }
}

/// Runs `first` and all tasks that follow from it, one thread per worker, and returns the workers. The first worker
/// uses the calling thread; if the system provides no more threads, the existing ones do all the work.
pub(crate) fn run<T: Send, W: Send>(
    workers: Vec<W>,
    first: T,
    work: impl Fn(&mut W, T, &TaskQueue<T>) + Sync,
) -> Vec<W> {
    let queue = TaskQueue {
        state: Mutex::new(QueueState { waiting: vec![first], n_busy: 0, n_idle: 0 }),
        changed: Condvar::new(),
    };
    let toil = |mut worker: W| {
        while let Some((task, busy)) = queue.take() {
            work(&mut worker, task, &queue);
            drop(busy);
        }
        worker
    };
    std::thread::scope(|scope| {
        let mut workers = workers.into_iter();
        let own = workers.next();
        let hire = |worker| std::thread::Builder::new().spawn_scoped(scope, || toil(worker)).ok();
        let crew: Vec<_> = workers.map_while(hire).collect();
        let own = own.map(toil);
        let others = crew
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        own.into_iter().chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once_and_its_offspring_too() {
        for n_workers in [1, 2, 7] {
            let done = run(vec![Vec::new(); n_workers], 1_u32, |worker: &mut Vec<u32>, task, queue| {
                worker.push(task);
                queue.push([task * 2, task * 2 + 1].into_iter().filter(|&next| next < 1000));
            });
            let mut done: Vec<u32> = done.into_iter().flatten().collect();
            done.sort_unstable();
            assert_eq!(done, (1..1000).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "task 5")]
    fn a_panic_reaches_the_caller_and_leaves_nobody_waiting() {
        run(vec![(); 3], 1_u32, |(), task, queue| {
            assert_ne!(task, 5, "task 5");
            queue.push([task + 1]);
        });
    }
}
