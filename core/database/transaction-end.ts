/** Work to do when a transaction has ended, such as on files that rows name. It must not throw. */
export type EndWork = () => Promise<void>

/** The work that waits for the end of one transaction, or of one part of it. */
export class TransactionEnd {
  readonly #afterCommit: EndWork[] = []
  readonly #afterRollback: EndWork[] = []

  afterCommit (work: EndWork): void { this.#afterCommit.push(work) }

  afterRollback (work: EndWork): void { this.#afterRollback.push(work) }

  /** Leaves the work to the transaction that this one was a part of, because that one can still be rolled back. */
  passTo (outer: TransactionEnd): void {
    outer.#afterCommit.push(...this.#afterCommit)
    outer.#afterRollback.push(...this.#afterRollback)
  }

  async commit (): Promise<void> {
    for (const work of this.#afterCommit) await work()
  }

  async rollBack (): Promise<void> {
    for (const work of this.#afterRollback) await work()
  }
}
