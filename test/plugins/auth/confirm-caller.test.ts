import { readdir } from 'node:fs/promises'
import { once } from 'node:events'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { until } from '../../until.ts'
import { createForm } from '../assets/support.ts'
import { buildScanTest } from '../scans/support.ts'
import { signIn } from './support.ts'

const test = await buildScanTest(t, { providers: [] })
const { app, admin, createUser, put, scan, rom, sql, libraryDir, dataDir } = test
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo
await put({ 'roms/snes/First.sfc': 'first', 'bios/x': '' })
await scan()
const { id: romId } = await rom('snes', 'First.sfc')
const [{ id: platformId } = { id: 0 }] = await sql<{ id: number }>("select id from platforms where fs_slug = 'snes'")

type Headers = Record<string, string>
interface Upload { method: string, url: string, headers: Headers, payload: Buffer }

const CONTENT = Buffer.alloc(200_000, 'x')
let count = 0
const form = (name: string, fileName: string) => createForm([{ name, fileName, content: CONTENT }])

/** Uploads by their kind. Each has a name of its own. */
const UPLOADS = {
  ROM: (): Upload => {
    const name = `Rom ${++count}.sfc`
    const headers = { 'content-type': 'application/octet-stream', 'x-upload-platform': String(platformId), 'x-upload-filename': name }
    return { method: 'POST', url: '/api/roms', headers, payload: CONTENT }
  },
  firmware: (): Upload => ({ method: 'POST', url: `/api/firmware?platform_id=${platformId}`, ...form('files', `f${++count}.bin`) }),
  save: (): Upload => ({ method: 'POST', url: `/api/saves?rom_id=${romId}`, ...form('saveFile', `s${++count}.srm`) }),
  WebDAV: (): Upload => ({ method: 'PUT', url: `/webdav/saves/Snes9x/w${++count}.srm`, headers: {}, payload: CONTENT })
}

async function listFiles (): Promise<string[]> {
  const lists = await Promise.all([libraryDir, `${dataDir}/assets`].map((dir) =>
    readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])))
  return lists.flat().filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`).toSorted()
}

/** Sends an upload, of which all but the last byte arrives before `change`. */
async function sendAround (upload: Upload, caller: Headers, change: () => Promise<unknown>) {
  const { method, url, headers, payload } = upload
  const before = (await listFiles()).length
  const request = sendRequest({
    port, host: '127.0.0.1', method, path: url, headers: { ...headers, ...caller, 'content-length': payload.length }
  })
  const responded = once(request, 'response') as Promise<[IncomingMessage]>
  request.write(payload.subarray(0, -1))
  await until(async () => (await listFiles()).length > before, 'the file is being written')
  await change()
  request.end(payload.subarray(-1))
  const [response] = await responded
  return response
}

/** Changes an account as another administrator, or deletes the account if the change is empty. */
const change = async (name: string, payload: Record<string, unknown>) => {
  const [{ id } = { id: 0 }] = await sql<{ id: number }>('select id from users where username = $1', [name])
  const reply = Object.keys(payload).length === 0
    ? await app.inject({ method: 'DELETE', url: `/api/users/${id}`, headers: admin })
    : await app.inject({ method: 'PUT', url: `/api/users/${id}`, headers: admin, payload })
  if (reply.statusCode !== 200) throw new Error(reply.body)
}

/** Changes of an account that revoke what it may do. */
const CHANGES = {
  deleted: {}, disabled: { enabled: false }, 'given a new password': { password: 'another password of the test' }
}

for (const [kind, create] of Object.entries(UPLOADS)) {
  t.test(`an account that is removed before the last byte stores no ${kind}`, async (t) => {
    for (const [what, payload] of Object.entries(CHANGES)) {
      const name = `sender-${++count}`
      const caller = await createUser(name, 'admin')
      const before = await listFiles()
      const response = await sendAround(create(), caller, () => change(name, payload))
      t.equal(response.statusCode, 401, what)
      response.resume()
      t.same(await listFiles(), before, what)
    }
  })
}

t.test('an upload is refused if its sender loses the right to it meanwhile', async (t) => {
  const caller = await createUser('loser', 'admin')
  const before = await listFiles()
  const response = await sendAround(UPLOADS.ROM(), caller, () => change('loser', { role: 'user' }))
  t.equal(response.statusCode, 403)
  t.match(await json(response), { detail: /\w/ })
  t.same(await listFiles(), before)
})

t.test('an upload is refused if its session or token is revoked meanwhile', async (t) => {
  await createUser('owner', 'admin')
  const session = await signIn(app, 'owner')
  const revoke = () => app.inject({ method: 'DELETE', url: '/api/sessions?include_current=true', headers: session })
  t.equal((await sendAround(UPLOADS.save(), session, revoke)).statusCode, 401)

  const { id, raw_token: raw } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'app', scopes: ['assets.write', 'assets.read'] }
  })).json<{ id: number, raw_token: string }>()
  const token = { authorization: `Bearer ${raw}` }
  const remove = () => app.inject({ method: 'DELETE', url: `/api/client-tokens/${id}`, headers: admin })
  t.equal((await sendAround(UPLOADS.save(), token, remove)).statusCode, 401)
})

t.test('an upload is stored if its token only expires meanwhile', async (t) => {
  const { id, raw_token: raw } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'app', scopes: ['assets.write', 'assets.read'] }
  })).json<{ id: number, raw_token: string }>()
  const expire = () => sql("update client_tokens set expires_at = now() - interval '1 second' where id = $1", [id])
  const response = await sendAround(UPLOADS.save(), { authorization: `Bearer ${raw}` }, expire)
  t.equal(response.statusCode, 200)
  t.match(await json(response), { rom_id: romId, file_size_bytes: CONTENT.length })
})
