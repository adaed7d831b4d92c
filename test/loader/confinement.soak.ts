import { ServiceDownError } from '@svc/plugin-sdk'
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

const plugin = await startTroublemaker(t)

/** Runs code in the plugin's process, as the plugin. */
const run = (code: string) => plugin.tell(`code ${code}`)

t.test('an invalid message ends the plugin and nothing else', async (t) => {
  const { tell, untilBack, changes } = plugin
  const FORGED: [number[], RegExp][] = [
    [[255, 255, 255, 255], /a message of 4096 MiB; 32 MiB are allowed/],
    [[0, 0, 0, 2, 1, 2], /an invalid message/],
    // null
    [[0, 0, 0, 3, 255, 15, 48], /an invalid message/]
  ]
  for (const [bytes, reason] of FORGED) {
    const forge = `new process.stdout.constructor(3).write(Buffer.from([${bytes.join()}])); await new Promise(() => {})`
    await t.rejects(run(forge), ServiceDownError)
    t.match(changes.at(-1), reason)
    await untilBack()
  }
  await t.rejects(run("await ctx.cache.set('key', 'x'.repeat(40 * 1024 * 1024))"), { message: /32 MiB are allowed/ })
  await untilBack()
  t.equal(await tell('answer here'), 'here')
})

t.test('a list that claims more entries than its message has bytes ends the plugin', async (t) => {
  const { untilBack, changes } = plugin
  // { type: 'tell', method: 'log', args: a list of 4,294,967,295 places without any entries, scope: 0 }
  const sparse = `const text = (one) => [0x22, one.length, ...Buffer.from(one)]
    const length = [0xff, 0xff, 0xff, 0xff, 0x0f]
    const body = Buffer.from([0xff, 15, 0x6f, ...text('type'), ...text('tell'), ...text('method'), ...text('log'), ...text('args'),
      0x61, ...length, 0x40, 0, ...length, ...text('scope'), 0x49, 0, 0x7b, 4])
    const header = Buffer.alloc(4)
    header.writeUInt32BE(body.length)
    new process.stdout.constructor(3).write(Buffer.concat([header, body]))
    await new Promise(() => {})`
  await t.rejects(run(sparse), ServiceDownError)
  t.match(changes.at(-1), /more than 100000 entries in/)
  await untilBack()
})

t.test('a value that stands for more entries than its message has bytes ends the plugin', async (t) => {
  const { untilBack, changes } = plugin
  const many = 'let many = []; for (let depth = 0; depth < 9; depth++) many = Array(40).fill(many);'
  for (const use of ['await ctx.cache.set("key", many)', 'return { many }']) {
    await t.rejects(run(`${many} ${use}`), ServiceDownError, use)
    t.match(changes.at(-1), /more than 100000 entries in/)
    await untilBack()
  }
  t.equal(await run(`${many} ctx.log.info({ many }, 'many'); const own = {}; own.own = own; ctx.log.info(own, 'own'); return 'alive'`), 'alive',
    'log lines are cut before they are sent')
})
