import type { InjectOptions } from 'fastify'
import type { App } from '../../../core/typebox.ts'

type Headers = Record<string, string>

export const bearer = (raw: string): Headers => ({ authorization: `Bearer ${raw}` })

/** Sends requests of one person or device, from an address of its own, so that callers do not share quotas. */
export function createCaller (app: App, headers: Headers = {}) {
  const remoteAddress = `192.0.2.${nextHost++}`
  const send = async (method: NonNullable<InjectOptions['method']>, url: string, payload?: object) => {
    const body = payload === undefined ? {} : { payload }
    const reply = await app.inject({ method, url, headers, remoteAddress, ...body })
    return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
  }
  return {
    get: (url: string) => send('GET', url),
    post: (url: string, payload?: object) => send('POST', url, payload),
    put: (url: string, payload?: object) => send('PUT', url, payload),
    delete: (url: string) => send('DELETE', url)
  }
}
let nextHost = 1

const TABLES = `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
  where schemaname in ('public', 'pgboss')`

/** Returns the whole database as text. */
export async function dumpDatabase (app: App): Promise<string> {
  const { rows: tables } = await app.pg.query<{ name: string }>(TABLES)
  const dumps = await Promise.all(tables.map(({ name }) =>
    app.pg.query<{ row: string }>(`select t::text as row from ${name} t`)))
  return dumps.flatMap(({ rows }) => rows.map(({ row }) => row)).join('\n')
}
