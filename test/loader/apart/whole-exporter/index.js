import { Type, defineExporter } from '@svc/plugin-sdk'

/** An exporter that uses every feature of the contract, and writes what it received. */
let context

export default defineExporter({
  key: 'whole',
  name: 'Whole',
  fileName: 'whole.txt',
  route: 'whole-text',
  media: { cover: 'covers', manual: 'papers' },
  config: Type.Object({ title: Type.String({ default: 'Games' }), is_ready: Type.Boolean({ default: true }) }),

  missing: ({ is_ready: isReady }) => isReady ? undefined : 'scan.whole.is_ready',
  async setup (ctx) {
    context = ctx
    await ctx.cache.set('set-up', true)
  },
  async close () {
    await context.cache.set('closed', true)
  },
  async render (platform, games, existing, ctx) {
    const { cache, config, files, log, memo, preferences, signal } = ctx
    if (existing === 'unreadable') throw new SyntaxError('line 3 is no game')
    if (existing === 'wait') {
      await new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason) }) })
    }
    if (existing === 'wrong') return { games }
    log.warn({ platform: platform.slug, games: games.length }, 'rendered')
    const [one, two] = await Promise.all([memo('once', async () => ({})), memo('once', async () => ({}))])
    const seen = {
      platform,
      games,
      existing,
      config,
      preferences,
      isShared: one === two,
      isSetUp: await cache.get('set-up'),
      file: await files.readText('a/b.txt'),
      listed: (await files.list('a')).map(({ name, kind }) => [name, kind])
    }
    return { text: JSON.stringify(seen), skipped: games.slice(1).map(({ rom_id: id }) => ({ rom_id: id, reason: 'one is enough' })) }
  }
})
