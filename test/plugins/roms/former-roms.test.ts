import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { scriptOf } from '../fixtures/script.ts'
import { startFormerRoms } from './former-roms-support.ts'

const {
  app, admin, put, scan, rom, roms, libraryDir, sql, at, asAdmin, hide, status, cleanUp
} = await startFormerRoms(t)

const platformId = async (folder: string) =>
  (await sql<{ id: number }>('select id from platforms where fs_slug = $1', [folder]))[0]?.id ?? 0

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

t.test('a deleted platform returns with its id, ROMs, name and hide rules', async (t) => {
  await put({ 'roms/gba/Kept.gba': 'kept', 'roms/gb/Other.gb': 'other' })
  await scan({ platform_fs_slugs: ['gba', 'gb'] })
  const [kept, other] = [await rom('gba', 'Kept.gba'), await rom('gb', 'Other.gb')]
  const [gba, gb] = [await platformId('gba'), await platformId('gb')]
  await hide('platforms', gba)
  await hide('roms', other.id)
  await asAdmin('PUT', `/api/platforms/${gba}`, { custom_name: 'Pocket games' })
  for (const id of [gba, gb]) await asAdmin('DELETE', `/api/platforms/${id}`)
  t.same(await roms('gba'), [])
  await scan({ platform_fs_slugs: ['gba', 'gb'] })
  t.equal(await platformId('gba'), gba)
  t.same(await sql('select custom_name from platforms where id = $1', [gba]), [{ custom_name: 'Pocket games' }])
  t.same([(await rom('gba', 'Kept.gba')).id, (await rom('gb', 'Other.gb')).id], [kept.id, other.id])
  t.equal(await status(kept.id), 404)
  t.equal(await status(other.id), 404)
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
