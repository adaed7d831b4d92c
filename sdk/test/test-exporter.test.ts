import t from 'tap'
import { type ExportGame, type Exporter, type ExporterDefinition, defineExporter } from '../src/index.ts'
import { type ExporterSuite, testExporter } from '../src/testing/index.ts'
import { runSuite } from './support.ts'

const HEADER = '# demo'

/** Reads one game per line: its path and name as a JSON list. */
function read (text: string): { path: string, name: string }[] {
  return text.split('\n').filter((line) => line.startsWith('[')).map((line) => {
    const [path, name]: string[] = JSON.parse(line)
    return { path: path ?? '', name: name ?? '' }
  })
}

const goodExporter = defineExporter({
  key: 'demo',
  name: 'Demo',
  fileName: 'demo.txt',
  route: 'demo',
  media: { cover: 'covers' },
  async render (_platform, games, existing) {
    if (existing !== null && !existing.startsWith(HEADER)) throw new Error('this is not a file of ours')
    const ours = new Set(games.map((game) => game.path))
    const kept = (existing ?? HEADER).split('\n')
      .filter((line) => line !== '' && !(line.startsWith('[') && ours.has(read(line)[0]?.path ?? '')))
    return { text: [...kept, ...games.map(renderGame)].join('\n') + '\n', skipped: [] }
  }
})
const { definition: good }: Exporter = goodExporter

function renderGame ({ path, name }: Pick<ExportGame, 'path' | 'name'>): string {
  return JSON.stringify([path, name])
}

const suite: ExporterSuite = {
  existing: { text: `${HEADER}\nmine: stays\n["old.sfc","Old"]\n`, keeps: ['mine: stays', '["old.sfc","Old"]'] },
  unparsable: 'someone else wrote this',
  read
}

function failuresOf (changes: Partial<ExporterDefinition>, options: Partial<ExporterSuite> = {}) {
  const exporter: Exporter = defineExporter({ ...good, ...changes })
  return runSuite((runner) => testExporter(runner, exporter, { ...suite, ...options }))
}

type Render = ExporterDefinition['render']

t.test('a good exporter passes', async (t) => {
  const { passed, failed } = await failuresOf({})
  t.strictSame([...failed], [])
  t.ok(passed.length >= 8)
})

t.test('a definition that the host cannot use fails', async (t) => {
  const name = 'the definition can be used by the host'
  t.match((await failuresOf({ fileName: '../demo.txt' })).failed.get(name), /one plain file name/)
  t.match((await failuresOf({ route: 'a/b' })).failed.get(name), /one part of an address/)
  t.match((await failuresOf({ media: { cover: '../covers' } })).failed.get(name), /a folder inside the platform's/)
  t.match((await failuresOf({ media: { poster: 'x' } as ExporterDefinition['media'] })).failed.get(name), /not a kind of media/)
})

t.test('a text that changes with every export fails', async (t) => {
  let count = 0
  const stamped: Render = async (...args) => {
    const { text, skipped } = await good.render(...args)
    return { text: `${text}written ${++count} times\n`, skipped }
  }
  t.match((await failuresOf({ render: stamped })).failed.get('an export over its own output changes no byte'), /byte-identical/)
})

t.test('a silently lost game fails, a reported one passes', async (t) => {
  const isPlain = ({ path }: ExportGame) => /^[\w ()./]+$/.test(path)
  const lossy = (report: boolean): Render => async (platform, games, existing, ctx) => {
    const { text } = await good.render(platform, games.filter(isPlain), existing, ctx)
    const lost = games.filter((game) => !isPlain(game))
    return { text, skipped: report ? lost.map((game) => ({ rom_id: game.rom_id, reason: 'its name' })) : [] }
  }
  t.match((await failuresOf({ render: lossy(false) })).failed.get('awkward names survive or are reported as skipped'), /paths in the file/)
  t.strictSame([...(await failuresOf({ render: lossy(true) })).failed], [])
  const everything: Render = async (_platform, games) =>
    ({ text: `${HEADER}\n`, skipped: games.map((game) => ({ rom_id: game.rom_id, reason: '' })) })
  t.match((await failuresOf({ render: everything })).failed.get('every game is either in the text exactly once or reported as skipped'), /say why ROM 1/)
})

t.test('a name that breaks the format fails', async (t) => {
  const unescaped: Render = async (_platform, games, existing, ctx) => {
    const { text } = await good.render(_platform, [], existing, ctx)
    return { text: text + games.map(({ path, name }) => `["${path}","${name}"]\n`).join(''), skipped: [] }
  }
  const { failed } = await failuresOf({ render: unescaped })
  t.ok(failed.has('awkward names survive or are reported as skipped'))
  t.ok(failed.has('an export over its own output changes no byte'), 'a game is written twice')
})

t.test('content of others must be preserved', async (t) => {
  const greedy: Render = (platform, games, _existing, ctx) => good.render(platform, games, null, ctx)
  const { failed } = await failuresOf({ render: greedy })
  t.match(failed.get('content of others is preserved'), /"mine: stays" was lost/)
  t.match(failed.get('an export of no games keeps the existing games'), /stay as they are/)
  t.match(failed.get('a file that cannot be parsed is not destroyed'), /Missing expected rejection/)
  t.match((await failuresOf({ render: greedy }, { unparsable: null })).failed
    .get('a file that cannot be parsed is not destroyed'), /nothing any frontend wrote .* was lost/)
})

t.test('an exporter that makes a request fails', async (t) => {
  const { failed } = await failuresOf({
    render: async (platform, games, existing, ctx) => {
      await ctx.http.request('https://games.example').catch(() => null)
      return good.render(platform, games, existing, ctx)
    }
  })
  t.match(failed.get('every game is either in the text exactly once or reported as skipped'), /No response is planned/)
})
