import pg from 'pg'

type Callback = Parameters<pg.Pool['connect']>[0]

/** What the adapter tells other processes of an event by. */
const NOTIFY = 'SELECT pg_notify($1, $2)'
const NOTIFY_ALL = 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as given (channel, payload)'

/** Events that were published in one go, by their text: channels, and when they are sent. */
interface Batch { channels: Map<string, string>, sent: Promise<unknown> }

/**
 * The connections of a socket.io adapter, which forgets the one it listens on when it is closed before it has it, or
 * lost it, and then asks for another every other second; and which has a statement for each event.
 */
export class AdapterPool extends pg.Pool {
  readonly #listening = new Set<pg.PoolClient>()
  #isClosing = false
  #batch: Batch | null = null

  constructor (options: pg.PoolConfig) {
    super(options)
    // Of its many forms, which a method of that name had to have all, the adapter uses this one.
    Reflect.set(this, 'query', (text: string, values: string[] = []) => {
      const [channel = '', payload = ''] = values
      return text === NOTIFY ? this.#notify(channel, payload) : super.query(text, values)
    })
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

  /** Of the same text twice in one statement, one would arrive. */
  #notify (channel: string, payload: string): Promise<unknown> {
    if (this.#batch === null || this.#batch.channels.has(payload)) this.#batch = this.#openBatch()
    this.#batch.channels.set(payload, channel)
    return this.#batch.sent
  }

  /** Takes what is published before anything else can happen: nobody waits longer for it. */
  #openBatch (): Batch {
    const channels = new Map<string, string>()
    const sent = Promise.resolve().then(() => {
      if (this.#batch?.channels === channels) this.#batch = null
      return super.query(NOTIFY_ALL, [[...channels.values()], [...channels.keys()]])
    })
    return { channels, sent }
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
