import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../core/http/server.ts'
import { createMemoryServices } from './memory-services.ts'
import { startTroublemaker } from './troublemaker.ts'

t.test('the bytes of a plugin\'s calls at once are bounded', async (t) => {
  const silent = await startServer(t, () => {})
  const { tell } = await startTroublemaker(t, (dataDir) => createMemoryServices({ password: 'x' }, dataDir, [silent.url]))
  const asked = await tell(`code const asked = []
    const body = 'x'.repeat(24 * 1024 * 1024)
    for (let call = 0; call < 8; call++) {
      asked.push(ctx.http.text('${silent.url}', { method: 'POST', body }).catch((err) => err.message))
      await ctx.cache.get('the message before was read')
    }
    return await Promise.race(asked)`)
  t.match(asked, /^More than 134217728 bytes in calls at once/)
})

t.test('a plugin gets no more bytes than the host holds in memory for it', async (t) => {
  const large = await startServer(t, (_request, response) => { response.writeHead(200, { 'content-length': 10 ** 9 }).flushHeaders() })
  const { tell, dataDir } = await startTroublemaker(t, (dataDir) => createMemoryServices({ password: 'x' }, dataDir, [large.url]))
  writeFileSync(join(dataDir, 'large.txt'), '')
  truncateSync(join(dataDir, 'large.txt'), 65 * 1024 * 1024)
  for (const most of ['NaN', '1e12', '"many"', 'Infinity', 'undefined']) {
    await t.rejects(tell(`code return (await ctx.files.readText('large.txt', ${most})).length`), /larger than 67108864 bytes/, most)
    if (most === 'undefined') continue
    await t.rejects(tell(`code return await ctx.http.text('${large.url}', { maxBytes: ${most} })`), /more than the 67,108,864 bytes allowed/, most)
  }
})
