import pg from 'pg'

type Callback = Parameters<pg.Pool['connect']>[0]

/**
 * The connections of a socket.io adapter, which forgets the one it listens on when it is closed before it has it, or
 * lost it, and then asks for another every other second.
 */
export class AdapterPool extends pg.Pool {
  readonly #listening = new Set<pg.PoolClient>()
  #isClosing = false

  constructor (options: pg.PoolConfig) {
    super(options)
    this.on('release', (_err, client) => { this.#listening.delete(client) })
  }

  override connect (): Promise<pg.PoolClient>
  override connect (callback: Callback): void
  override connect (callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return this.#listen()
    // For a statement of the pool's own, which gives it back.
    super.connect(callback)
    return undefined
  }

  /** Whoever asks while it closes waits for ever: a refusal is a reason to ask again, and would keep the process. */
  async #listen (): Promise<pg.PoolClient> {
    if (!this.#isClosing) {
      const client = await super.connect()
      this.#listening.add(client)
      if (!this.#isClosing) return client
      this.#giveBack()
    }
    return await new Promise(() => { /* nobody waits for it any more */ })
  }

  #giveBack (): void {
    for (const client of this.#listening) client.release()
  }

  /** After the adapter. */
  async close (): Promise<void> {
    this.#isClosing = true
    this.#giveBack()
    await this.end()
  }
}
