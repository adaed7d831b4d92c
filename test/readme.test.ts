import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { SERVER_DIR } from '../core/server-dir.ts'
import { readmes } from './readme-support.ts'

/** Links to files of the project, and to their headings. A link with a scheme leads elsewhere. */
const LINK = /\]\(([^)#\s:]*)(?:#([^)]*))?\)/g

const documents = [...readmes, 'CONTRIBUTING.md', 'CHANGELOG.md']
const read = (path: string) => readFileSync(join(SERVER_DIR, path), 'utf8')
const linksOf = (document: string) => [...read(document).matchAll(LINK)]
  .map(([, target = '', heading]) => ({ document, path: target === '' ? document : join(dirname(document), target), heading }))
const links = documents.flatMap(linksOf)

/** Returns the names that GitHub gives the headings of a document. */
const headingsOf = (document: string) => [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
  title.toLowerCase().replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-'))

t.test('links in documents lead to files', async (t) => {
  const broken = links.filter(({ path }) => !existsSync(join(SERVER_DIR, path)))
  t.same(broken, [])
})

t.test('links to headings lead to headings', async (t) => {
  const broken = links.filter(({ path, heading }) =>
    heading !== undefined && path.endsWith('.md') && !headingsOf(path).includes(heading))
  t.same(broken, [])
  t.ok(links.some(({ heading }) => heading !== undefined))
})

t.test('the README and CONTRIBUTING stay short', async (t) => {
  t.ok(readFileSync(join(SERVER_DIR, 'README.md')).length <= 8 * 1024)
  t.ok(readFileSync(join(SERVER_DIR, 'CONTRIBUTING.md')).length <= 10 * 1024)
})
