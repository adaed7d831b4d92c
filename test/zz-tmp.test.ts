import t from 'tap'
import { buildTestApp } from './support.ts'
t.test('tmp', async (t) => {
  const { app, admin } = await buildTestApp(t, { worker: true, library: { roms: { snes: {'a.sfc': ''}, nes: {} } } })
  for (const url of ['/', '/api/heartbeat', '/api/health', '/api/health/ready', '/api/plugins', '/api/heartbeat/metadata/gamelist', '/api/heartbeat/metadata/igdb','/api/heartbeat/metadata/nope', '/api/setup/library']) {
    const r = await app.inject({ url, headers: url.includes('health') ? {} : admin })
    console.error(url, r.statusCode, r.body.slice(0, 3000), JSON.stringify(r.headers).slice(0,0))
  }
})
