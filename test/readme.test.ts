import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { SERVER_DIR } from '../core/server-dir.ts'
import { readmes } from './readme-support.ts'

/** Links to files of the project. A link with a scheme leads elsewhere. */
const LINK = /\]\(([^)#\s:]+)(?:#[^)]*)?\)/g

t.test('links in documents lead to files', async (t) => {
  const documents = [...readmes, 'CONTRIBUTING.md']
  const broken = documents.flatMap((path) => [...readFileSync(join(SERVER_DIR, path), 'utf8').matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !existsSync(join(SERVER_DIR, dirname(path), target)))
    .map((target) => `${path}: ${target}`))
  t.same(broken, [])
})

t.test('the README and CONTRIBUTING stay short', async (t) => {
  t.ok(readFileSync(join(SERVER_DIR, 'README.md')).length <= 8 * 1024)
  t.ok(readFileSync(join(SERVER_DIR, 'CONTRIBUTING.md')).length <= 10 * 1024)
})
