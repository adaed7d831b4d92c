import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { link, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { io } from 'socket.io-client'
import t from 'tap'
import { uploadsConfig } from '../../../plugins/uploads/config.ts'
import { loadConfig } from '../../load-config.ts'
import { until } from '../../until.ts'
import { signIn } from '../auth/support.ts'
import { content, cut, latin, startUploads } from './uploads-support.ts'

const {
  test, app, admin, createUser, libraryDir, put, roms, sql, scan, base, platform, path, call, startUpload, send,
  complete, begin, scanned, staged
} = await startUploads(t)

const zoe = await createUser('zoe')
const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex')

t.test('a ROM uploaded in chunks to any worker is scanned alone and announced', async (t) => {
  const bytes = content(1_000_003)
  const chunks = cut(bytes, 300_000)
  await put({ 'roms/snes/Not asked for.sfc': 'no scan looks at it' })
  const socket = io(base(), { path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: await signIn(app, 'admin') })
  t.teardown(() => socket.disconnect())
  await once(socket as never, 'connect')
  const heard = new Promise((resolve) => {
    socket.on('scan:scanning_rom', (rom: { fs_name: string }) => { if (rom.fs_name === 'Läng (Europe).sfc') resolve(rom) })
  })
  const id = await begin('Läng (Europe).sfc', bytes.length, chunks.length)
  for (const [order, index] of [3, 1, 0, 2, 1].entries()) {
    const { status, body } = await send(id, index, chunks[index] ?? Buffer.alloc(0))
    t.match({ status, body }, { status: 200, body: { received: Math.min(order + 1, 4), total: 4 } })
  }
  t.match((await call('GET', `/upload/${id}`, {})).body, {
    upload_id: id, file_name: 'Läng (Europe).sfc', total_size: bytes.length, total_chunks: 4, received_chunks: [0, 1, 2, 3]
  })
  t.same(await complete(id, { 'content-type': 'application/json' }), { status: 201, body: {} })
  t.ok(bytes.equals(await readFile(path('Läng (Europe).sfc'))))
  t.match(await scanned('Läng (Europe).sfc'), { sha1_hash: sha1(bytes), regions: ['Europe'], missing_from_fs: false })
  t.match(await heard, { fs_name: 'Läng (Europe).sfc', is_new: true })
  t.notOk((await roms('snes')).some((rom) => rom.fs_name === 'Not asked for.sfc'))
  t.same(await staged(), [])
  t.equal((await complete(id)).status, 404, 'a second completion')
  t.equal((await call('POST', `/upload/${id}/cancel`, {})).status, 204)
})

t.test('an upload continues after its connection was lost in the middle of a chunk', async (t) => {
  const bytes = content(2_100_000)
  const [first = bytes, second = bytes, third = bytes] = cut(bytes, 900_000)
  const id = await begin('Cut.sfc', bytes.length, 3)
  t.equal((await send(id, 0, first)).status, 200)
  const request = sendRequest(`${base()}/api/roms/upload/${id}`, {
    method: 'PUT', headers: { ...admin, 'x-chunk-index': '1', 'content-length': String(second.length) }
  })
  request.on('error', () => { /* the test cuts the connection */ })
  request.write(second.subarray(0, 700_000))
  // The server's disk has some of the bytes by then.
  await until(async () => (await readFile(path(`.${id}.part`))).length > 900_000, 'the first bytes of the chunk')
  request.destroy()
  t.match(await complete(id), { status: 400, body: { detail: 'Missing chunks: [1, 2]' } })
  t.match((await call('GET', `/upload/${id}`, {})).body, { received_chunks: [0] })
  t.equal((await send(id, 2, third)).status, 200)
  t.match((await send(id, 1, second)).body, { received: 3 })
  t.equal((await complete(id)).status, 201)
  t.match(await scanned('Cut.sfc'), { sha1_hash: sha1(bytes) })
})

t.test('a chunk that stalls while its upload is completed never reaches the ROM', async (t) => {
  const bytes = content(2_000_000)
  const [first = bytes, second = bytes] = cut(bytes, 1_000_000)
  const id = await begin('Stalled.sfc', bytes.length, 2)
  t.equal((await send(id, 0, first)).status, 200)
  const stalled = sendRequest(`${base()}/api/roms/upload/${id}`, {
    method: 'PUT', headers: { ...admin, 'x-chunk-index': '1', 'content-length': String(second.length) }
  })
  stalled.write(second.subarray(0, 700_000))
  await until(async () => (await readFile(path(`.${id}.part`))).length > 1_000_000, 'the first bytes of the chunk')
  t.equal((await send(id, 1, second)).status, 200)
  t.equal((await complete(id)).status, 201)
  stalled.end(Buffer.alloc(300_000))
  const [answer] = await once(stalled, 'response') as [IncomingMessage]
  t.equal(answer.statusCode, 409, await text(answer))
  t.ok(bytes.equals(await readFile(path('Stalled.sfc'))))
  t.same(await staged(), [])
  await scanned('Stalled.sfc')
})

t.test('a chunk sent again after a failed completion never reaches the ROM', async (t) => {
  const bytes = content(20)
  const id = await begin('Again.sfc', 20, 2)
  for (const [index, chunk] of cut(bytes, 10).entries()) await send(id, index, chunk)
  await link(path(`.${id}.part`), path('Again.sfc'))
  t.equal((await send(id, 1, Buffer.alloc(10))).status, 200)
  t.equal((await complete(id)).status, 201)
  t.ok(bytes.equals(await readFile(path('Again.sfc'))))
  t.same(await staged(), [])
  await scanned('Again.sfc')
})

t.test('a chunk that does not match its digest must be sent again', async (t) => {
  const bytes = content(64)
  const digest = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
  const id = await begin('Sum.sfc', 64, 1)
  t.match(await send(id, 0, Buffer.alloc(64), { 'content-digest': digest }), { status: 400, body: { detail: /sha-256/ } })
  t.match(await complete(id), { status: 400, body: { detail: 'Missing chunks: [0]' } })
  t.equal((await send(id, 0, bytes, { 'content-digest': 'sha-256=nothing' })).status, 400)
  t.equal((await send(id, 0, bytes, { 'content-digest': `md5=:AAAA:, ${digest}` })).status, 200)
  t.equal((await complete(id)).status, 201)
  t.ok(bytes.equals(await readFile(path('Sum.sfc'))))
})

t.test('an invalid upload is refused before its bytes are sent', async (t) => {
  const status = async (...more: [name: string, headers?: Record<string, string>]) =>
    (await startUpload(more[0], 10, 2, more[1])).status
  const names = ['../up.sfc', '..', '.', '', 'a/b.sfc', 'a\\b.sfc', '/etc/passwd', 'C:x.sfc', `${'x'.repeat(253)}.sfc`, 'new\u0085line.sfc', 'half.part', 'gamelist.xml', '.svc-trash', '.SVC-convert-1-00000000']
  for (const name of names) t.equal(await status(name), 400, name)
  t.match(await startUpload('First.sfc', 10, 2), { status: 400, body: { detail: 'File First.sfc already exists' } })
  t.match(await startUpload('X.sfc', 10, 2, { 'x-upload-platform': '999' }), { status: 400, body: { detail: 'Platform not found' } })
  t.equal((await startUpload('X.sfc', 10, 2, zoe)).status, 403, 'without the scope')
  for (const [header, value] of [['x-upload-platform', '0'], ['x-upload-total-size', '0'], ['x-upload-total-chunks', 'x']] as const) {
    t.equal(await status('X.sfc', { [header]: value }), 422, header)
  }
  t.equal((await startUpload('X.sfc', 200_000_000, 2)).status, 400, 'chunks of more than 64 MiB')
  t.match(await startUpload('X.sfc', 6_000_000_000_000, 100_000), { status: 507, body: { detail: /1 GiB is free/ } })
  t.match(await startUpload('X.sfc', 6_500_000_000_000, 100_000), { status: 507, body: { detail: /ROM_UPLOAD_QUOTA_BYTES/ } })
  t.match(await startUpload('X.sfc', 9_000_000_000_001, 100_000), { status: 413, body: { detail: /MAX_ROM_UPLOAD_SIZE_BYTES/ } })
  t.equal((await call('GET', '/upload/nonsense', {})).status, 400)
  t.equal((await call('GET', '/upload/00000000-0000-4000-8000-000000000000', {})).status, 404)
  t.same(await staged(), [])
})

t.test('a platform hidden from the caller is not found', async (t) => {
  const editor = await createUser('editor')
  const [{ id } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'editor'")
  const rules = { overrides: [{ entity: 'roms', action: 'write', granted: true }] }
  t.equal((await app.inject({ method: 'PUT', url: `/api/permissions/users/${id}`, headers: admin, payload: rules })).statusCode, 200)
  await until(async () => (await startUpload('Seen.sfc', 10, 1, editor)).status === 201, 'an upload of who may')
  await sql("insert into hidden_entities (entity, entity_id, user_id) values ('platforms', $1, $2)", [await platform(), id])
  t.match(await startUpload('X.sfc', 10, 2, editor), { status: 400, body: { detail: 'Platform not found' } })
  await sql('delete from rom_uploads')
})

t.test('open uploads are limited for each user', async (t) => {
  const [{ id } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'admin'")
  await sql(`insert into rom_uploads (id, user_id, platform_id, fs_path, file_name, total_size, total_chunks)
    select gen_random_uuid(), $1, $2, 'roms/snes', 'x', 1, 1 from generate_series(1, 100)`, [id, await platform()])
  t.match(await startUpload('X.sfc', 10, 1), { status: 409, body: { detail: /MAX_OPEN_ROM_UPLOADS/ } })
  await sql('delete from rom_uploads')
})

t.test('concurrent uploads of one user share one quota', async (t) => {
  const [{ id } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'admin'")
  // The uploads are complete, because the disk of a test has no room for so many bytes.
  await sql(`with made as (insert into rom_uploads (id, user_id, platform_id, fs_path, file_name, total_size, total_chunks)
      values (gen_random_uuid(), $1, $2, 'roms/snes', 'x', $3, 1) returning id)
    insert into rom_upload_chunks (upload_id, number, size, is_apart) select id, 0, $3, false from made`, [id, await platform(), 6_199_999_999_950])
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => startUpload(`Many ${index}.sfc`, 10, 1)))
  t.same(answers.map(({ status }) => status).sort(), [...Array<number>(5).fill(201), ...Array<number>(7).fill(507)])
  t.match(answers.find(({ status }) => status === 507), { body: { detail: /ROM_UPLOAD_QUOTA_BYTES/ } })
  await sql('delete from rom_uploads')
})

t.test('a whole file without a length counts with the bytes that arrive', async (t) => {
  const [{ id } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'admin'")
  await sql(`with made as (insert into rom_uploads (id, user_id, platform_id, fs_path, file_name, total_size, total_chunks)
      values (gen_random_uuid(), $1, $2, 'roms/snes', 'x', $3, 1) returning id)
    insert into rom_upload_chunks (upload_id, number, size, is_apart) select id, 0, $3, false from made`, [id, await platform(), 6_199_999_999_950])
  const add = async (name: string, size: number) => {
    const request = sendRequest(`${base()}/api/roms`, {
      method: 'POST',
      headers: { ...admin, 'content-type': 'application/octet-stream', 'x-upload-platform': String(await platform()), 'x-upload-filename': name }
    })
    const answered = once(request, 'response')
    // Many clients read the response only after they sent everything.
    await new Promise((resolve) => { request.write(Buffer.alloc(size - 1), resolve) })
    request.end('x')
    const [answer] = await answered as [IncomingMessage]
    return { status: answer.statusCode, body: await text(answer) }
  }
  t.match(await add('Over.sfc', 51), { status: 507, body: /ROM_UPLOAD_QUOTA_BYTES/ })
  t.match(await add('Larger.sfc', 32 * 1024 ** 2), { status: 507, body: /ROM_UPLOAD_QUOTA_BYTES/ })
  t.same(await staged(), [])
  t.equal((await add('Within.sfc', 50)).status, 200)
  await sql('delete from rom_uploads')
})

t.test('whole files that arrive at once count together', async (t) => {
  const [{ id } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'admin'")
  const platformId = await platform()
  const insert = `insert into rom_uploads (id, user_id, platform_id, fs_path, file_name, total_size, total_chunks, assembled_by)
    values (gen_random_uuid(), $1, $2, 'roms/snes', 'x', $3, $4, $5)`
  const left = 50
  await sql(insert, [id, platformId, 6_200_000_000_000 - left, 1, null])
  await sql('insert into rom_upload_chunks (upload_id, number, size, is_apart) select id, 0, total_size, false from rom_uploads')
  await sql(insert, [id, platformId, left, 0, 'a process that ended'])

  const begin = (name: string, length?: number) => sendRequest(`${base()}/api/roms`, {
    method: 'POST',
    headers: {
      ...admin,
      'content-type': 'application/octet-stream',
      'x-upload-platform': String(platformId),
      'x-upload-filename': name,
      ...length === undefined ? {} : { 'content-length': length }
    }
  })
  async function finish (request: ReturnType<typeof begin>, rest: number): Promise<number | undefined> {
    request.end(Buffer.alloc(rest))
    const [answer] = await once(request, 'response') as [IncomingMessage]
    await text(answer)
    return answer.statusCode
  }
  const reserved = async () => (await sql<{ total_size: string }>('select total_size from rom_uploads where total_chunks = 0'))
    .map(({ total_size: size }) => Number(size))

  const slow = begin('Slow.sfc', 40)
  slow.write(Buffer.alloc(10))
  await until(async () => (await reserved()).join() === '40', 'the reservation, without that of the process that ended')
  t.equal(await finish(begin('Together too large.sfc', 30), 30), 507)
  t.equal(await finish(begin('Of any size.sfc'), 11), 507)
  t.equal(await finish(begin('Beside it.sfc'), 10), 200)
  t.equal(await finish(slow, 30), 200)
  t.same(await reserved(), [])
  t.equal(await finish(begin('Alone.sfc', 30), 30), 200)
  const broken = begin('Broken.sfc', 50)
  broken.on('error', () => {})
  broken.write(Buffer.alloc(10))
  await until(async () => (await reserved()).length > 0, 'the reservation')
  broken.destroy()
  await until(async () => (await reserved()).length === 0, 'the end of the reservation')
  await sql('delete from rom_uploads')
})

t.test('the default limit is 128 GiB of open uploads per user', async (t) => {
  t.equal(uploadsConfig.of(loadConfig({ SVC_DATA_DIR: t.testdir({}) }).config).quota_bytes, 128 * 1024 ** 3)
})

t.test('a chunk that does not belong to the upload is refused', async (t) => {
  const id = await begin('Odd.sfc', 10, 2)
  t.match(await send(id, 2, content(5)), { status: 400, body: { detail: /no chunk 2/ } })
  t.equal((await send(id, -1, content(5))).status, 422)
  t.equal((await send(id, 0, Buffer.alloc(0))).status, 400)
  const large = sendRequest(`${base()}/api/roms/upload/${id}`, {
    method: 'PUT', headers: { ...admin, 'x-chunk-index': '0', 'content-length': String(64 * 1024 ** 2 + 1) }
  })
  large.on('error', () => { /* the test ends the request */ }).flushHeaders()
  const [answer] = await once(large, 'response') as [IncomingMessage]
  t.equal(answer.statusCode, 413)
  large.destroy()
  const [{ id: user } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'zoe'")
  await sql('update rom_uploads set user_id = $2 where id = $1', [id, user])
  t.equal((await send(id, 0, content(5))).status, 403)
  for (const step of ['complete', 'cancel']) t.equal((await call('POST', `/upload/${id}/${step}`, {})).status, 403)
  await sql('delete from rom_uploads where id = $1', [id])
  t.equal((await send(id, 0, content(5))).status, 404)
})

t.test('chunks that differ from the announced size end the upload', async (t) => {
  const id = await begin('Short.sfc', 10, 2)
  t.equal((await send(id, 0, content(5))).status, 200)
  t.equal((await send(id, 1, content(4))).status, 200)
  t.match(await complete(id), { status: 400, body: { detail: /together have 9 bytes instead of 10/ } })
  t.equal((await complete(id)).status, 404)
  t.same(await staged(), [])
})

t.test('a file that took the name is not replaced, and one worker at a time completes', async (t) => {
  const [one, two] = [await begin('Twice.sfc', 10, 1), await begin('Twice.sfc', 10, 1)]
  for (const id of [one, two]) t.equal((await send(id, 0, content(10))).status, 200)
  await sql('update rom_uploads set assembled_by = $2 where id = $1', [one, app.workers.id])
  t.equal((await complete(one)).status, 409, 'another worker that is alive')
  await sql("update rom_uploads set assembled_by = 'dead' where id = $1", [one])
  const answers = await Promise.all([complete(one), complete(two)])
  t.same(answers.map(({ status }) => status).sort(), [201, 409])
  await scanned('Twice.sfc')
  const open = answers[0]?.status === 409 ? one : two
  t.match(await complete(open), { status: 409, body: { detail: 'File Twice.sfc already exists' } })
  t.equal((await call('POST', `/upload/${open}/cancel`, {})).status, 204)
  t.same(await staged(), [])
})

t.test('a completion is refused while the disk is away, and succeeds when it is back', async (t) => {
  const id = await begin('Waits.sfc', 10, 1)
  t.equal((await send(id, 0, content(10))).status, 200)
  await rename(path(), `${path()}-away`)
  await mkdir(path())
  t.match(await complete(id), { status: 409, body: { detail: /mount its disk/ } })
  await rm(path(), { recursive: true })
  await rename(`${path()}-away`, path())
  t.equal((await complete(id)).status, 201)
  await scanned('Waits.sfc')
})

t.test('completing an upload again after a crash succeeds', async (t) => {
  const bytes = content(30)
  const id = await begin('Killed.sfc', 30, 3)
  for (const [index, chunk] of cut(bytes, 10).entries()) await send(id, index, chunk)
  await link(path(`.${id}.part`), path('Killed.sfc'))
  t.equal((await complete(id)).status, 201)
  t.ok(bytes.equals(await readFile(path('Killed.sfc'))))
  t.match(await scanned('Killed.sfc'), { sha1_hash: sha1(bytes) })
})

t.test('a link in place of a staged file is not followed', async (t) => {
  const secret = join(libraryDir, 'secret')
  await writeFile(secret, 'untouched')
  const id = await begin('Link.sfc', 10, 1)
  await symlink(secret, path(`.${id}.part`))
  t.equal((await send(id, 0, content(10))).status, 409)
  t.equal(await readFile(secret, 'utf8'), 'untouched')
  t.equal((await call('POST', `/upload/${id}/cancel`, {})).status, 204)
})

t.test("uploads are refused if the platform's disk seems not to be mounted", async (t) => {
  await put({ 'roms/gba/Away.gba': 'away' })
  await scan({ platform_fs_slugs: ['gba'] })
  await rm(join(libraryDir, 'roms', 'gba'), { recursive: true })
  const answer = await startUpload('X.gba', 10, 1, { 'x-upload-platform': String(await platform('gba')) })
  t.match(answer, { status: 409, body: { detail: /mount its disk/ } })
  await scan({ platform_fs_slugs: [] })
  const id = (await startUpload('Back.gba', 10, 1, { 'x-upload-platform': String(await platform('gba')) })).body.upload_id ?? ''
  t.equal((await send(id, 0, content(10))).status, 200)
  t.equal((await complete(id)).status, 201)
  await until(async () => (await sql("select 1 from platforms where fs_slug = 'gba' and not missing_from_fs")).length === 1, 'the platform')
})

t.test('an upload that is not completed within a day is removed, and no other', async (t) => {
  const [old, fresh] = [await begin('Old.sfc', 20, 2), await begin('Fresh.sfc', 20, 2)]
  for (const id of [old, fresh]) t.equal((await send(id, 0, content(10))).status, 200)
  await sql("update rom_uploads set created_at = now() - interval '25 hours' where id = $1", [old])
  t.equal((await send(old, 1, content(10))).status, 404)
  const stray = '.11111111-1111-4111-8111-111111111111.part'
  const late = '.22222222-2222-4222-8222-222222222222.part'
  await put({ [`roms/snes/${stray}`]: 'x', [`roms/snes/${late}`]: 'x', 'roms/snes/.mine.part': 'x', 'roms/snes/Published.sfc': 'x' })
  // A server died between the end of an upload and the removal of its staged name.
  await link(path('Published.sfc'), path('.33333333-3333-4333-8333-333333333333.part'))
  const longAgo = new Date(Date.now() - 25 * 3_600_000)
  for (const name of [stray, '.mine.part', `.${fresh}.part`]) await utimes(path(name), longAgo, longAgo)
  const { task_id: task } = (await app.inject({ method: 'POST', url: '/api/tasks/run/cleanup_uploads', headers: admin }))
    .json<{ task_id: string }>()
  t.match(await test.finished(task), { status: 'finished', meta: { cleanup_stats: { uploads: 1, files: 3 } } })
  t.same((await staged()).sort(), ['.mine.part', `.${fresh}.part`, late].sort())
  t.equal((await send(fresh, 1, content(10))).status, 200)
  t.equal(await readFile(path('Published.sfc'), 'utf8'), 'x')
  for (const name of ['.mine.part', late, 'Published.sfc']) await rm(path(name))
  t.equal((await call('POST', `/upload/${fresh}/cancel`, {})).status, 204)
})

t.test('a ROM can be sent in one request, and a broken one leaves no file', async (t) => {
  const headers = async (name: string, type: string) =>
    ({ 'x-upload-platform': String(await platform()), 'x-upload-filename': latin(name), 'content-type': type })
  const bytes = content(5_000)
  const form = Buffer.concat([Buffer.from('--x\r\ncontent-disposition: form-data; name="x-upload-platform"\r\n\r\n1\r\n--x\r\n' +
    'content-disposition: form-data; name="Grün.sfc"; filename="Grün.sfc"\r\n\r\n'), bytes, Buffer.from('\r\n--x--\r\n')])
  t.same(await call('POST', '', await headers('Grün.sfc', 'multipart/form-data; boundary=x'), form), { status: 200, body: {} })
  t.match(await scanned('Grün.sfc'), { sha1_hash: sha1(bytes) })
  t.equal((await call('POST', '', await headers('Plain.sfc', 'application/json'), bytes)).status, 200)
  t.ok(bytes.equals(await readFile(path('Plain.sfc'))))
  t.match(await call('POST', '', await headers('Plain.sfc', 'text/plain'), bytes), { status: 400, body: { detail: 'File Plain.sfc already exists' } })
  t.equal((await call('POST', '', await headers('Empty.sfc', 'text/plain'))).status, 400)
  t.equal((await call('POST', '', await headers('Other.sfc', 'multipart/form-data; boundary=x'), form)).status, 400)
  t.equal((await call('POST', '', { 'x-upload-platform': '1' }, bytes)).status, 422)
  t.same(await staged(), [])
  await scanned('Plain.sfc')
})

t.test('a compressed body is refused, because it would be stored as the file', async (t) => {
  const bytes = gzipSync(content(5_000))
  const type = { 'content-type': 'application/octet-stream' }
  const headers = { ...type, 'x-upload-platform': String(await platform()), 'x-upload-filename': 'Packed.sfc' }
  const refusal = { status: 415, body: { detail: /'gzip'; send it without compression/ } }
  t.match(await call('POST', '', { ...headers, 'content-encoding': 'gzip' }, bytes), refusal)
  const id = await begin('Packed.sfc', bytes.length, 1)
  t.match(await call('PUT', `/upload/${id}`, { ...type, 'x-chunk-index': '0', 'content-encoding': 'gzip' }, bytes), refusal)
  t.match((await call('GET', `/upload/${id}`, {})).body, { received_chunks: [] })
  t.equal((await call('PUT', `/upload/${id}`, { ...type, 'x-chunk-index': '0', 'content-encoding': 'utf-8' }, bytes)).status, 200)
  t.equal((await call('POST', `/upload/${id}/cancel`, {})).status, 204)
})

t.test('an uploaded file becomes a missing ROM again by its name or its content', async (t) => {
  const bytes = content(900)
  await put({ 'roms/snes/Lost.sfc': bytes, 'roms/snes/Moved.sfc': content(901) })
  await scan({ platform_fs_slugs: ['snes'] })
  const before = await roms('snes')
  const idOf = (name: string) => before.find((rom) => rom.fs_name === name)?.id ?? 0
  for (const name of ['Lost.sfc', 'Moved.sfc']) await rm(path(name))
  await scan({ platform_fs_slugs: ['snes'] })
  for (const [name, body] of [['Lost.sfc', bytes], ['Elsewhere.sfc', content(901)]] as const) {
    const id = await begin(name, body.length, 1)
    t.equal((await send(id, 0, body)).status, 200)
    t.equal((await complete(id)).status, 201)
    await until(async () => (await roms('snes')).some((rom) => rom.fs_name === name && !rom.missing_from_fs), name)
  }
  const after = await roms('snes')
  t.equal(after.find((rom) => rom.fs_name === 'Lost.sfc')?.id, idOf('Lost.sfc'))
  t.equal(after.find((rom) => rom.fs_name === 'Elsewhere.sfc')?.id, idOf('Moved.sfc'))
})
