import { readFileSync } from 'node:fs'
import { createContext, createExportGame, testExporter } from '@svc/plugin-sdk/testing'
import t from 'tap'
import exporter from '../src/index.ts'
import { HEADER, readFields } from '../src/render.ts'

const existing = readFileSync(new URL('./fixtures/games.csv', import.meta.url), 'utf8')

function read (text: string) {
  return text.split('\n').filter((line) => line !== HEADER).flatMap((line) => {
    const [path, name] = readFields(line) ?? []
    return path === undefined || name === undefined ? [] : [{ path, name }]
  })
}

t.test('conforms', (t) => testExporter(t, exporter, {
  packageUrl: new URL('../package.json', import.meta.url),
  existing: { text: existing, keeps: ['# checked on my own machine', '"hacks/Mine.sfc","My own hack"'] },
  unparsable: null,
  read
}))

t.test('an existing game is rewritten in its place', async (t) => {
  const platform = { slug: 'snes', fs_slug: 'snes', name: 'SNES' }
  const ctx = createContext({ config: {} })
  const { text } = await exporter.definition.render(platform, [createExportGame()], existing, ctx)
  const lines = text.split('\n')
  t.equal(lines[2], '"Chrono Harbor (USA).sfc","Chrono Harbor","1995-03-11","85","covers/Chrono Harbor (USA).png"')
  t.notMatch(text, 'Old name')
})
