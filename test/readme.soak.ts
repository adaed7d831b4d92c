import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SERVER_DIR } from '../core/server-dir.ts'
import { compile, extractBlocks, folderOf, readmes } from './readme-support.ts'

t.test('the TypeScript in every README compiles against the SDK', async (t) => {
  const blocksOf = (path: string) => [...extractBlocks(readFileSync(join(SERVER_DIR, path), 'utf8'), folderOf(path))]
  const files = new Map(readmes.flatMap(blocksOf))
  t.ok(files.size >= 5, 'there are some')
  t.same(compile(files), [])
})

t.test('an unknown export of the SDK and an unknown property of a definition are found', async (t) => {
  const text = [
    "```ts\nimport { findBestTitel } from '@svc/plugin-sdk'\nfindBestTitel()\n```",
    "<!--\nimport { defineProvider } from '@svc/plugin-sdk'\ndefineProvider({ key: 'demo', name: 'Demo', id: 'integer', " +
      'getById: async () => undefined, … })\n-->\n```ts\nlimit: { concurrency: 4 }\n```'
  ].join('\n')
  const problems = compile(extractBlocks(text, folderOf('wrong')))
  t.equal(problems.length, 2)
  t.match(problems[0], /findBestTitel/)
  t.match(problems[1], /'limit' does not exist|limits/)
})
