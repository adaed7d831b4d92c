import { scriptOf } from '../fixtures/script.ts'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startFormerRoms } from './former-roms-support.ts'

const {
  app, put, scan, rom, roms, libraryDir, sql, alice, assets, at, hide, status, cleanUp, admin, asAdmin
} = await startFormerRoms(t)

t.test('ROMs that return after the clean-up keep their hide rules, marks and play time', async (t) => {
  await put({ 'roms/snes/Hidden.sfc': 'hidden', 'roms/snes/Marked.sfc': 'marked', 'roms/snes/Rest.sfc': 'rest' })
  await scan({ platform_fs_slugs: ['snes'] })
  const [hidden, marked] = [await rom('snes', 'Hidden.sfc'), await rom('snes', 'Marked.sfc')]
  await hide('roms', hidden.id)
  const marks = { rating: 8, status: 'finished', backlogged: true, completion: 40 }
  await app.inject({ method: 'PUT', url: `/api/roms/${marked.id}/props?update_last_played=true`, headers: alice, payload: marks })
  const played = { rom_id: marked.id, start_time: '2026-01-01T10:00:00Z', end_time: '2026-01-01T11:00:00Z', duration_ms: 3_600_000 }
  const ingested = await app.inject({ method: 'POST', url: '/api/play-sessions', headers: alice, payload: { sessions: [played] } })
  t.equal(ingested.statusCode, 201, ingested.body)

  await rename(at('snes/Hidden.sfc'), join(libraryDir, 'Hidden.sfc'))
  await rename(at('snes/Marked.sfc'), join(libraryDir, 'Marked.sfc'))
  await cleanUp('snes')
  t.same((await roms('snes')).map((one) => one.fs_name), ['Rest.sfc'])
  const gone = (await app.inject({ url: '/api/play-sessions', headers: alice })).json<{ rom_id: number | null }[]>()
  t.same(gone.map((one) => one.rom_id), [null], 'a ROM that is gone is named to nobody')
  t.same((await app.inject({ url: '/api/roms', headers: alice })).json<{ total: number }>().total, 1)

  await rename(join(libraryDir, 'Hidden.sfc'), at('snes/Hidden.sfc'))
  await rename(join(libraryDir, 'Marked.sfc'), at('snes/Marked, but renamed.sfc'))
  await scan({ platform_fs_slugs: ['snes'] })
  t.equal((await rom('snes', 'Hidden.sfc')).id, hidden.id)
  t.equal(await status(hidden.id), 404)
  t.equal((await rom('snes', 'Marked, but renamed.sfc')).id, marked.id, 'known by its content')
  const shown = (await app.inject({ url: `/api/roms/${marked.id}`, headers: alice })).json<{ rom_user: object }>()
  t.match(shown.rom_user, { ...marks, last_played: String })
  const again = (await app.inject({ url: '/api/play-sessions', headers: alice })).json<{ rom_id: number | null }[]>()
  t.same(again.map((one) => one.rom_id), [marked.id])
  t.same(await sql('select id from former_roms'), [])
})

t.test('saves return with ROMs that have another name or platform after the clean-up', async (t) => {
  await put({ 'roms/snes/Named.sfc': 'named', 'roms/snes/Moved.sfc': 'moved', 'roms/snes/Rest.sfc': 'rest', 'roms/gb/Rest.gb': 'rest of gb' })
  await scan({ platform_fs_slugs: ['snes', 'gb'] })
  const [named, moved] = [await rom('snes', 'Named.sfc'), await rom('snes', 'Moved.sfc')]
  for (const { id } of [named, moved]) await assets.save({ rom_id: id }, `${id}.srm`, 'progress')
  await rename(at('snes/Named.sfc'), join(libraryDir, 'Named.sfc'))
  await rename(at('snes/Moved.sfc'), join(libraryDir, 'Moved.sfc'))
  await cleanUp('snes')
  await rename(join(libraryDir, 'Named.sfc'), at('snes/Named, but renamed.sfc'))
  await rename(join(libraryDir, 'Moved.sfc'), at('gb/Moved.gb'))
  await scan({ platform_fs_slugs: ['snes', 'gb'] })
  for (const { id } of [named, moved]) {
    t.same((await assets.get<{ file_name: string }[]>(`/api/saves?rom_id=${id}`)).map((save) => save.file_name), [`${id}.srm`])
  }
  t.same(await sql('select platform_fs_slug, rom_fs_name from assets order by rom_fs_name'), [
    { platform_fs_slug: 'gb', rom_fs_name: 'Moved.gb' }, { platform_fs_slug: 'snes', rom_fs_name: 'Named, but renamed.sfc' }
  ])
})

t.test('field locks return with the ROM after clean-up, a move or a deletion', async (t) => {
  await put({ 'roms/sms/Cleaned.sms': 'cleaned', 'roms/sms/Listed.sms': 'listed', 'roms/sms/Moved.sms': 'moved', 'roms/sms/Rest.sms': 'rest' })
  await scan({ platform_fs_slugs: ['sms'] })
  const manual = JSON.stringify({ genres: ['Chess'] })
  scriptOf('alpha').getById = (id) => ({ id, name: 'Chosen' })
  for (const name of ['Cleaned', 'Listed', 'Moved']) {
    await asAdmin('PUT', `/api/roms/${(await rom('sms', `${name}.sms`)).id}`, {
      name: `${name} by hand`, summary: 'Mine', alpha_id: '7', raw_manual_metadata: manual
    })
  }
  const [cleaned, listed, moved] = [await rom('sms', 'Cleaned.sms'), await rom('sms', 'Listed.sms'), await rom('sms', 'Moved.sms')]
  await asAdmin('POST', '/api/roms/delete', { roms: [listed.id] })
  await rename(at('sms/Cleaned.sms'), join(libraryDir, 'Cleaned.sms'))
  await rename(at('sms/Moved.sms'), join(libraryDir, 'Moved.sms'))
  await cleanUp('sms')
  await rename(join(libraryDir, 'Cleaned.sms'), at('sms/Cleaned.sms'))
  await put({ 'roms/gg/Rest.gg': 'rest of gg' })
  await rename(join(libraryDir, 'Moved.sms'), at('gg/Moved.gg'))
  scriptOf('alpha').identify = () => ({ id: 9, name: 'Wrong' })
  await scan({ platform_fs_slugs: ['sms', 'gg'] })
  for (const [id, name] of [[cleaned.id, 'Cleaned'], [listed.id, 'Listed'], [moved.id, 'Moved']] as const) {
    const shown = (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json<object>()
    t.match(shown, { name: `${name} by hand`, summary: 'Mine', metadatum: { genres: ['Chess'] } }, name)
    const { locked } = (await app.inject({ url: `/api/roms/${id}/sources`, headers: admin })).json<{ locked: string[] }>()
    t.same(locked, ['alpha_id', 'name', 'summary', 'manual_metadata'], name)
    t.same(await sql('select provider_id from rom_matches where rom_id = $1', [id]), [{ provider_id: '7' }], name)
  }
  await scan({ platform_fs_slugs: ['sms'], type: 'complete' })
  t.equal((await rom('sms', 'Cleaned.sms')).name, 'Cleaned by hand', 'also after a complete scan')
})

t.test('empty, ambiguous and changed files get new ids', async (t) => {
  await put({ 'roms/nes/Empty.nes': '', 'roms/nes/Twin 1.nes': 'twin', 'roms/nes/Twin 2.nes': 'twin', 'roms/nes/Rest.nes': 'rest' })
  await scan({ platform_fs_slugs: ['nes'] })
  const before = new Set((await roms('nes')).map((one) => one.id))
  for (const name of ['Empty', 'Twin 1', 'Twin 2']) await rm(at(`nes/${name}.nes`))
  await cleanUp('nes')
  await put({ 'roms/nes/Void.nes': '', 'roms/nes/Triplet.nes': 'twin', 'roms/nes/Else.nes': 'else' })
  await scan({ platform_fs_slugs: ['nes'] })
  for (const name of ['Void.nes', 'Triplet.nes', 'Else.nes']) t.notOk(before.has((await rom('nes', name)).id), name)
  await put({ 'roms/nes/Twin 1.nes': 'changed meanwhile' })
  await scan({ platform_fs_slugs: ['nes'] })
  t.ok(before.has((await rom('nes', 'Twin 1.nes')).id), 'the place counts first')
})
