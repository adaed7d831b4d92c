import { EventEmitter } from 'node:events'
import pg from 'pg'

type Callback = Parameters<pg.Pool['connect']>[0]

/** The statement with which the adapter publishes an event to other processes. */
const NOTIFY = 'SELECT pg_notify($1, $2)'
const NOTIFY_ALL = 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as given (channel, payload)'

/** Events published in one tick: channels by payload, and the promise of the statement. */
interface Batch { channels: Map<string, string>, sent: Promise<unknown> }

/** Creates an adapter's part of a shared connection, with the notifications of channels with this prefix. */
function createListener (client: pg.PoolClient, prefix: string) {
  const listener = new EventEmitter()
  const pass = (notification: pg.Notification) => {
    if (notification.channel.startsWith(prefix)) listener.emit('notification', notification)
  }
  const end = () => { listener.emit('end') }
  client.on('notification', pass).on('end', end)
  return Object.assign(listener, {
    query: (text: string) => client.query(text),
    release () { client.off('notification', pass).off('end', end) }
  })
}

/**
 * The connection pool of socket.io adapters, which share two connections: each is a process of the database that takes
 * 2 MB. The pool works around two behaviours of an adapter. If the adapter is closed before it has its listening
 * connection, or after losing it, it forgets that connection. It then asks for another one every two seconds. The
 * adapter also sends one statement for each event, which this pool batches.
 */
export class AdapterPool extends pg.Pool {
  readonly #listening = new Set<pg.PoolClient>()
  #isClosing = false
  #shared: Promise<pg.PoolClient> | null = null
  #batch: Batch | null = null

  constructor (options: pg.PoolConfig) {
    super(options)
    // An assignment, because an overriding method would need all overloads, and the adapter uses only this one.
    Reflect.set(this, 'query', (text: string, values: string[] = []) => {
      const [channel = '', payload = ''] = values
      return text === NOTIFY ? this.#notify(channel, payload) : super.query(text, values)
    })
    this.on('release', (_err, client) => { this.#listening.delete(client) })
  }

  /** Returns this pool for one adapter: it shares the listening connection, and hears of its own channels only. */
  forChannels (prefix: string): pg.Pool {
    const connect = async () => {
      this.#shared ??= this.#listenOnce()
      return createListener(await this.#shared, prefix)
    }
    return { connect, query: this.query } as unknown as pg.Pool
  }

  override connect (): Promise<pg.PoolClient>
  override connect (callback: Callback): void
  override connect (callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return this.#listen()
    // For a statement of the pool itself, which releases the connection.
    super.connect(callback)
    return undefined
  }

  /**
   * Returns a connection to listen on. While the pool closes, the promise stays pending: after an error the adapter
   * would try again and keep the process alive.
   */
  async #listen (): Promise<pg.PoolClient> {
    if (!this.#isClosing) {
      const client = await super.connect()
      this.#listening.add(client)
      if (!this.#isClosing) return client
      this.#giveBack()
    }
    return await new Promise(() => { /* no caller waits for it any more */ })
  }

  /** Connects the connection that all adapters share. After its end or a failure, the next adapter connects anew. */
  async #listenOnce (): Promise<pg.PoolClient> {
    const forget = () => { this.#shared = null }
    try {
      const client = await this.#listen()
      client.once('end', forget)
      return client
    } catch (err) {
      forget()
      throw err
    }
  }

  /**
   * Publishes a payload. A payload that is already in the batch starts a new one, because PostgreSQL delivers equal
   * notifications of one transaction once.
   */
  #notify (channel: string, payload: string): Promise<unknown> {
    if (this.#batch === null || this.#batch.channels.has(payload)) this.#batch = this.#openBatch()
    this.#batch.channels.set(payload, channel)
    return this.#batch.sent
  }

  /** Collects the events of the current tick, which adds no delay. */
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

  /** Closes the pool; the adapter must be closed before. */
  async close (): Promise<void> {
    this.#isClosing = true
    this.#giveBack()
    await this.end()
  }
}
