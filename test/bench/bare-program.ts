import { constants, createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import pg from 'pg'
import { sha256 } from '../../core/access/secrets.ts'

/*
 * A minimal program with the same responses: it looks up the token, selects the rows by prepared statements, and writes
 * JSON.
 */
const CONNECTIONS = 10
const CALLER = 'select u.id, u.role, t.scopes from client_tokens t join users u on u.id = t.user_id where t.token_hash = $1 and u.enabled'
const COLUMNS = `select r.*, p.slug as platform_slug, p.name as platform_name,
  (select jsonb_object_agg(m.provider, m.match -> 'metadata') from rom_matches m where m.rom_id = r.id) as metadata
  from roms r join platforms p on p.id = r.platform_id`
const FILES = 'select f.* from rom_files f where f.rom_id = any($1::int[])'

/** `folder` holds the files to send. */
export interface BareOrder { databaseUrl: string, folder: string }

async function serve ({ databaseUrl, folder }: BareOrder): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS })
  const app = fastify()

  async function authenticate (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
    const { rows: [caller] } = await pool.query({ name: 'caller', text: CALLER, values: [sha256(token)] })
    if (caller === undefined) await reply.code(401).send({ detail: 'Not authenticated' })
  }

  app.get('/api/health', async () => ({ status: 'ok' }))
  app.get('/api/heartbeat', { onRequest: authenticate }, async () => ({ status: 'ok' }))
  app.get<{ Params: { id: string } }>('/api/roms/:id', { onRequest: authenticate }, async ({ params }) => {
    const id = Number(params.id)
    const [{ rows: [rom] }, { rows: files }] = await Promise.all([
      pool.query<object>({ name: 'rom', text: `${COLUMNS} where r.id = $1`, values: [id] }),
      pool.query<object>({ name: 'files', text: FILES, values: [[id]] })
    ])
    return { ...rom, files }
  })
  app.get<{ Querystring: { limit?: string, offset?: string } }>('/api/roms', { onRequest: authenticate }, async ({ query }) => {
    const values = [Number(query.limit ?? 50), Number(query.offset ?? 0)]
    const { rows: items } = await pool.query<object>({
      name: 'page', text: `${COLUMNS} where r.id = any(array(select id from roms order by name_sort_key, id limit $1 offset $2))
        order by r.name_sort_key, r.id`, values
    })
    return { items }
  })
  app.get<{ Params: { name: string } }>('/files/:name', { onRequest: authenticate }, async ({ params }, reply) => {
    const path = join(folder, params.name)
    const { size, mtime } = await stat(path)
    return reply.headers({ 'content-type': 'application/octet-stream', 'content-length': size, 'last-modified': mtime.toUTCString() })
      .send(createReadStream(path))
  })
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => { done(null, payload) })
  app.put<{ Params: { name: string }, Querystring: { start: string }, Body: Readable }>(
    '/files/:name', { onRequest: authenticate }, async ({ params, query, body }) => {
      const file = await open(join(folder, params.name), constants.O_WRONLY | constants.O_CREAT)
      await pipeline(body, file.createWriteStream({ start: Number(query.start), flush: true }))
      return {}
    })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

process.once('message', (order: BareOrder) => {
  serve(order).then((port) => { process.send?.(port) }, (err: unknown) => {
    console.error(err)
    process.exit(1)
  })
})
process.once('disconnect', () => { process.exit(0) })
