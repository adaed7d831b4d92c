import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { PNG, createClient, folderOf } from './support.ts'
import { buildTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'

const test = await buildTestApp(t)
const { app, config } = test
const aliceHeaders = await test.createUser('alice')
const bobHeaders = await test.createUser('bob')
const alice = createClient(test, aliceHeaders)
const rom = await addRom(test, { fs_name: 'Game.sfc' })
const save = await alice.save({ rom_id: rom, emulator: 'snes9x' }, 'Game (one) ü.srm', 'save')
const home = await folderOf(test, 'alice')

const get = (path: string, headers: Record<string, string> = aliceHeaders, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ method, url: `/api/raw/assets/${path.split('/').map(encodeURIComponent).join('/')}`, headers })

t.test('a path serves a save, whole and in part, as an attachment', async (t) => {
  const reply = await get(save.full_path)
  t.equal(reply.statusCode, 200, reply.body)
  t.equal(reply.body, 'save')
  t.match(reply.headers, {
    'content-type': 'application/octet-stream', 'content-disposition': /^attachment/, 'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache', etag: /^"/
  })
  const part = await get(save.full_path, { ...aliceHeaders, range: 'bytes=1-2' })
  t.equal(part.statusCode, 206)
  t.equal(part.body, 'av')
  t.match(await get(save.full_path, aliceHeaders, 'HEAD'), { statusCode: 200, body: '' })
  t.equal((await app.inject({ url: `/api/raw/assets/${save.full_path}?timestamp=1`, headers: aliceHeaders })).body, 'save')
})

t.test('a path serves pictures inline', async (t) => {
  await app.pg.query("update users set avatar_path = $1 where username = 'alice'", [`${home}/profile/avatar.png`])
  await mkdir(join(config.data_dir, 'assets', home, 'profile'), { recursive: true })
  await writeFile(join(config.data_dir, 'assets', home, 'profile', 'avatar.png'), PNG)
  for (const headers of [aliceHeaders, bobHeaders]) {
    const reply = await get(`${home}/profile/avatar.png`, headers)
    t.equal(reply.statusCode, 200)
    t.match(reply.headers, { 'content-type': 'image/png', 'content-disposition': /^inline/ })
    const url = `/assets/romm/assets/${home}/profile/avatar.png?ts=1`
    t.match(await app.inject({ url, headers }), { statusCode: 200, headers: { 'content-type': 'image/png' } }, 'as RomM\'s pages ask')
    t.match(await app.inject({ url, headers, method: 'HEAD' }), { statusCode: 200, body: '' })
    t.equal((await app.inject({ url })).statusCode, 401)
  }
})

t.test('V1: a path finds only uploads, whatever it contains', async (t) => {
  await writeFile(join(config.data_dir, 'secret.key'), 'secret')
  const wrong = [home, `${home}/saves`, `${save.full_path}/x`, '../secret.key', '../../etc/passwd', 'users/../../secret.key',
    `${home}/profile/../../../secret.key`, `${home}/profile/..`, `${home}/../../secret.key`, '/etc/passwd',
    `${home}/saves/snes/${rom}/snes9x/nothing.srm`, 'users/x/profile/y', `${home}/profile/${'x'.repeat(300)}`]
  for (const path of wrong) {
    const reply = await app.inject({ url: `/api/raw/assets/${encodeURIComponent(path)}`, headers: aliceHeaders })
    t.equal(reply.statusCode, 404, path)
    t.same(reply.json(), { detail: 'Asset not found' }, path)
  }
  t.equal((await app.inject({ url: '/api/raw/assets/..%2f..%2fsecret.key', headers: aliceHeaders })).statusCode, 404)
})

t.test('V10: a path does not serve a save to other users or without a credential', async (t) => {
  t.equal((await get(save.full_path, {})).statusCode, 401)
  t.equal((await get(save.full_path, bobHeaders)).statusCode, 404)
  t.equal((await get(save.full_path, test.admin)).statusCode, 404)
  await app.pg.query('update assets set is_public = true where id = $1', [save.id])
  t.equal((await get(save.full_path, bobHeaders)).statusCode, 200)
  await app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'roms', $1, id from users where username = 'bob'`, [rom])
  t.equal((await get(save.full_path, bobHeaders)).statusCode, 404)
})
