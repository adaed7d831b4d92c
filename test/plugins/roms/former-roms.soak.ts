import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startFormerRoms } from './former-roms-support.ts'

const { app, put, scan, rom, roms, libraryDir, sql, alice, at, hide, status, cleanUp } = await startFormerRoms(t)

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
