/** Groups tasks by their abort signal, with one listener for each signal, whatever its number of files. */
export class TasksBySignal<Task extends { readonly signal: AbortSignal | undefined }> {
  readonly #tasks = new Map<AbortSignal, Set<Task>>()
  readonly #cancel: (tasks: readonly Task[], reason: unknown) => void

  constructor (cancel: (tasks: readonly Task[], reason: unknown) => void) {
    this.#cancel = cancel
  }

  add (task: Task): void {
    const { signal } = task
    if (!signal) return
    const tasks = this.#tasks.get(signal)
    if (tasks) {
      tasks.add(task)
      return
    }
    this.#tasks.set(signal, new Set([task]))
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  delete (task: Task): void {
    const tasks = task.signal && this.#tasks.get(task.signal)
    if (!task.signal || !tasks?.delete(task) || tasks.size > 0) return
    this.#tasks.delete(task.signal)
    task.signal.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = ({ target }: Event): void => {
    if (target instanceof AbortSignal) this.#cancel([...this.#tasks.get(target) ?? []], target.reason)
  }
}
