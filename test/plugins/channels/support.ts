import { text } from 'node:stream/consumers'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { OutgoingNotification } from '@svc/plugin-sdk'
import { SMTPServer } from 'smtp-server'
import type { Test } from 'tap'
import { type PluginPackage, listPluginPackages } from '../../../core/loader/packages/packages.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { until } from '../../until.ts'
import { startServer } from '../../core/http/server.ts'
import type { TestApp } from '../../support.ts'

export const UNPACED = fileURLToPath(new URL('../fixtures/unpaced-channel/', import.meta.url))

/** Returns the server's own plugins, and a channel without a rate limit. */
export const packages = (): PluginPackage[] => [...listPluginPackages('/nowhere'), {
  folder: UNPACED,
  name: 'svc-channel-unpaced',
  version: '1.0.0',
  manifest: { kind: 'channel', key: 'unpaced', sdk: '^2' },
  entry: `${UNPACED}index.js`,
  origin: 'community',
  problem: null
}]

export interface Arrival { path: string, headers: IncomingHttpHeaders, body: OutgoingNotification }

/** A destination that stores the notifications it gets and responds with `answer`, by default with success. */
export async function startReceiver (t: Test, answer?: (arrival: Arrival, response: ServerResponse) => unknown) {
  const arrivals: Arrival[] = []
  const server = await startServer(t, async (request, response) => {
    const body = JSON.parse(await text(request)) as OutgoingNotification
    const arrival = { path: request.url ?? '', headers: request.headers, body }
    arrivals.push(arrival)
    if (answer === undefined) response.writeHead(204).end()
    else answer(arrival, response)
  })
  return { url: server.url, arrivals }
}

/** A mail server that stores the text of mails and refuses addresses that begin with `no` or `busy`. */
export async function startMailServer (t: Test) {
  const mails: { to: string[], content: string }[] = []
  /** Called before a mail is accepted. */
  const before: { take: () => Promise<unknown> } = { take: async () => {} }
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    disabledCommands: ['STARTTLS'],
    onRcptTo ({ address }, _session, done) {
      const responseCode = address.startsWith('no') ? 550 : address.startsWith('busy') ? 450 : null
      done(responseCode === null ? null : Object.assign(new Error('nobody here'), { responseCode }))
    },
    onData (stream, session, done) {
      void text(stream).then(async (content) => {
        await before.take()
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), content })
        done()
      })
    }
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => new Promise<void>((resolve) => { server.close(() => { resolve() }) }))
  const { port } = server.server.address() as AddressInfo
  const env = { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_SECURITY: 'none', SMTP_FROM: 'svc@example.org' }
  /** Returns the code in the latest mail to an address. */
  const codeTo = (address: string) =>
    /^ {4}(\d{6})\r?$/m.exec(mails.findLast(({ to }) => to.includes(address))?.content ?? '')?.[1] ?? ''
  return { mails, before, env, codeTo }
}

export interface ChannelRow {
  id: number
  enabled: boolean
  last_delivered_at: Date | null
  last_error: string | null
  consecutive_failures: number
}

/** Helpers of channel tests for one server. */
export function createChannelTools ({ app, admin }: TestApp) {
  const readRow = async (id: number) =>
    (await app.pg.query<ChannelRow>('select * from notification_channels where id = $1', [id])).rows[0]
  const count = async (id: number) =>
    Number((await app.pg.query<{ count: string }>('select count(*) from channel_deliveries where channel_id = $1', [id])).rows[0]?.count)

  return {
    readRow,
    count,

    async create (input: object, headers = admin) {
      const reply = await app.inject({ method: 'POST', url: '/api/notification-channels', headers, payload: { name: 'Mine', ...input } })
      if (reply.statusCode !== 201) throw new Error(`${reply.statusCode} ${reply.body}`)
      return reply.json<{ id: number } & Record<string, unknown>>()
    },

    call: async (method: 'POST' | 'PATCH' | 'DELETE' | 'GET', path: string, payload?: object, headers = admin) => {
      const url = `/api/notification-channels${path}`
      return await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
    },

    /** Queues notifications in a transaction, as the notifications feature does. */
    async send (username: string, notifications: readonly Partial<OutgoingNotification>[], topic = 'custom') {
      const { rows: [user] } = await app.pg.query<{ id: number }>('select id from users where username = $1', [username])
      await inTransaction(app.db, (tx) => app.channels.enqueue(tx, notifications.map((one, index) => ({
        user_id: user?.id ?? 0,
        topic,
        notification: {
          event: 'notification',
          id: index + 1,
          kind: 'custom',
          level: 'info',
          title: `Title ${index + 1}`,
          body: `Body ${index + 1}`,
          url: null,
          data: {},
          actor: null,
          created_at: new Date().toISOString(),
          ...one
        }
      }))))
      app.channels.wake()
    },

    /** Makes the next try of a channel due now. */
    async hurry (id: number) {
      await app.pg.query('update channel_deliveries set due_at = now() where channel_id = $1', [id])
      app.channels.wake()
    },

    /** Waits until a channel's row fulfills `is`. */
    waitFor: (id: number, what: string, is: (row: ChannelRow, waiting: number) => boolean | Promise<boolean>) =>
      until(async () => {
        // Waiting deliveries are counted first, which makes the row at least as new as the count.
        const waiting = await count(id)
        const row = await readRow(id)
        return row !== undefined && await is(row, waiting) && row
      }, what)
  }
}
