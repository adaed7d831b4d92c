import type { EntityManager } from '@mikro-orm/postgresql'
import { CompiledQuery, type ControlledTransaction, type QueryExecutor, type QueryExecutorProvider } from 'kysely'
import { type EndWork, TransactionEnd } from './transaction-end.ts'

interface Within {
  transaction: ControlledTransaction<unknown>
  end: TransactionEnd
  em?: EntityManager
}

/** The rows of a statement, and how many it returned or wrote. */
export interface QueryResult<Row> { rows: Row[], rowCount: number }

/** Runs constant texts: a handle, or a single connection of a command that runs without the server. */
export interface Queryable {
  query<Row extends object> (text: string, values?: unknown[]): Promise<{ rows: Row[], rowCount: number | null }>
}

/**
 * A handle on the database: on any of its connections, or on one transaction. A function that is given a handle works
 * in the transaction of its caller, if there is one.
 *
 * Statements are `sql` templates of Kysely (`await sql<Row>`…`.execute(db)`) or constant texts. Select times with
 * `selectMilliseconds()`, because a row has them as texts.
 */
export class Db implements QueryExecutorProvider {
  readonly #root: EntityManager
  readonly #transaction: ControlledTransaction<unknown> | undefined
  readonly #end: TransactionEnd | undefined
  #em: EntityManager | undefined

  /** @param root the entity manager of the process, without entities */
  constructor (root: EntityManager, within?: Within) {
    this.#root = root
    this.#transaction = within?.transaction
    this.#end = within?.end
    this.#em = within?.em
  }

  /** The unit of work of this handle, which loads, changes and writes entities. It is created at its first use. */
  get em (): EntityManager {
    if (this.#em === undefined) {
      this.#em = this.#root.fork()
      if (this.#transaction !== undefined) this.#em.setTransactionContext(this.#transaction)
    }
    return this.#em
  }

  get isInTransaction (): boolean {
    return this.#transaction !== undefined
  }

  /** Lets `sql` templates run on this handle. */
  getExecutor (): QueryExecutor {
    return this.#statements().getExecutor()
  }

  /** Runs a constant text, which names its values `$1`, `$2` and so on. */
  async query<Row extends object> (text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const { rows, numAffectedRows } = await this.#statements().executeQuery<Row>(CompiledQuery.raw(text, [...values]))
    return { rows, rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows) }
  }

  /**
   * Runs `work` in one transaction, which is rolled back if it throws; within a transaction, in a part of that one.
   * Changed entities are written before the commit. Use `inTransaction`, which also retries after a conflict with
   * another transaction, unless the work does more than use the database.
   */
  async transact<T> (work: (tx: Db) => Promise<T>): Promise<T> {
    const end = new TransactionEnd()
    let isDone = false
    try {
      const result = await this.#run(end, async (tx) => {
        const result = await work(tx)
        await tx.#em?.flush()
        isDone = true
        return result
      })
      if (this.#end === undefined) await end.commit()
      else end.passTo(this.#end)
      return result
    } catch (err) {
      // If the commit itself failed, nobody knows whether it was done.
      if (!isDone) await end.rollBack()
      throw err
    }
  }

  /** Does work after the commit of the outermost transaction; never if that is rolled back. It must not throw. */
  afterCommit (work: EndWork): void {
    this.#requireEnd().afterCommit(work)
  }

  /**
   * Does work after a rollback, of this part alone or of all. Not after a commit that failed, because nobody knows
   * whether it was done. It must not throw.
   */
  afterRollback (work: EndWork): void {
    this.#requireEnd().afterRollback(work)
  }

  #requireEnd (): TransactionEnd {
    if (this.#end === undefined) throw new TypeError('Only a handle of a transaction knows its end; call transact first')
    return this.#end
  }

  async #run<T> (end: TransactionEnd, work: (tx: Db) => Promise<T>): Promise<T> {
    // Entities that are loaded already have to be the same within the transaction.
    if (this.#em !== undefined) return await this.#em.transactional((em) => work(this.#within(em, end)))
    const connection = this.#root.getConnection()
    const { result, tx } = await connection.transactional(async (transaction: ControlledTransaction<unknown>) => {
      const tx = new Db(this.#root, { transaction, end })
      return { result: await work(tx), tx }
    }, this.#transaction === undefined ? {} : { ctx: this.#transaction })
    this.#continue(tx)
    return result
  }

  #statements () {
    return this.#transaction ?? this.#root.getKysely()
  }

  #within (em: EntityManager, end: TransactionEnd): Db {
    const transaction = em.getTransactionContext<ControlledTransaction<unknown>>()
    if (transaction === undefined) throw new TypeError('The entity manager is not in a transaction')
    return new Db(this.#root, { transaction, end, em })
  }

  /** Takes over the unit of work of a transaction that was committed, so that its entities can be changed further. */
  #continue (tx: Db): void {
    if (this.#em !== undefined || tx.#em === undefined) return
    this.#em = tx.#em
    if (this.#transaction === undefined) this.#em.resetTransactionContext()
    else this.#em.setTransactionContext(this.#transaction)
  }
}
