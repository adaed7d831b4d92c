import { EventEmitter } from 'node:events'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import type { Queryable } from '../database/db.ts'
import { isLockTimeout } from '../database/errors.ts'

/** The statement with which the adapter publishes an event to other processes. */
const NOTIFY = 'SELECT pg_notify($1, $2)'
const NOTIFY_ALL = 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as given (channel, payload)'

/** Events published in one statement: channels by payload, and the promise of the statement. */
interface Batch { channels: Map<string, string>, sent: Promise<void> }

/**
 * Creates the function that publishes events in their order. The adapter would send one statement for each; events of
 * one tick, or that arrive while a statement runs, share one.
 *
 * PostgreSQL takes one lock for the whole server when a notification is committed. Another process may hold it for
 * long, while its commit waits for a standby. The session then refuses the statement, so that its heartbeat can run.
 */
export function createPublisher (session: Queryable) {
  let batch: Batch | null = null
  let last: Promise<void> = Promise.resolve()

  async function send (channels: ReadonlyMap<string, string>): Promise<void> {
    try {
      await session.query(NOTIFY_ALL, [[...channels.values()], [...channels.keys()]])
    } catch (err) {
      if (!isLockTimeout(err)) throw err
      await send(channels)
    }
  }

  function openBatch (): Batch {
    const channels = new Map<string, string>()
    const sent = last.then(() => {
      if (batch?.channels === channels) batch = null
      return send(channels)
    })
    last = sent.catch(() => { /* each event's publisher reports it */ })
    return { channels, sent }
  }

  return (channel: string, payload: string): Promise<void> => {
    // PostgreSQL delivers equal notifications of one transaction once.
    if (batch === null || batch.channels.has(payload)) batch = openBatch()
    batch.channels.set(payload, channel)
    return batch.sent
  }
}

/**
 * Returns the session of this process in place of the connection pool of socket.io adapters, because each connection is
 * a process of the database that takes 2 MB. This process ends when it loses its session, so no adapter connects again.
 */
export function createAdapterSession ({ listen, session }: Pick<FastifyInstance['workers'], 'listen' | 'session'>): pg.Pool {
  const publish = createPublisher(session)

  async function connect () {
    const listener = new EventEmitter()
    return Object.assign(listener, {
      async query (text: string): Promise<void> {
        const [, channel = ''] = /^LISTEN "(.+)"$/.exec(text) ?? []
        // After a failure the adapter would try again and keep the process alive.
        await listen(channel, (payload) => { listener.emit('notification', { payload }) }).catch(() => new Promise(() => {}))
      },
      release () { listener.removeAllListeners() }
    })
  }

  function query (text: string, values: string[] = []) {
    const [channel = '', payload = ''] = values
    return text === NOTIFY ? publish(channel, payload) : session.query(text, values)
  }
  return { connect, query } as unknown as pg.Pool
}
