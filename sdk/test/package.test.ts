import { readFileSync, readdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { defineProvider } from '../src/index.ts'
import { testProvider } from '../src/testing/index.ts'
import { runSuite } from './support.ts'

const provider = defineProvider({ key: 'demo', name: 'Demo', id: 'integer', identify: async () => undefined })
const NAME = 'the package can be published'
const packageJson = {
  name: 'svc-provider-demo',
  keywords: ['svc-plugin'],
  svc: { kind: 'provider', key: 'demo', sdk: '^2' },
  peerDependencies: { '@svc/plugin-sdk': '^2' }
}
const files: Record<string, string> = {
  'README.md': '# Demo\n## What it does\n## Configuration\n## Limits and attribution\n## Troubleshooting\n',
  'CHANGELOG.md': '# Changelog\n\n## 1.0.0\n'
}

async function failureOf (t: Test, changes: object, otherFiles: Record<string, string | undefined> = {}) {
  const all = { ...files, 'package.json': JSON.stringify({ ...packageJson, ...changes }), ...otherFiles }
  const folder = t.testdir(Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined)))
  const packageUrl = pathToFileURL(`${folder}/package.json`)
  const { failed } = await runSuite((runner) => testProvider(runner, provider, { packageUrl, known: { rom: {} } }))
  return failed.get(NAME) ?? null
}

t.test('a package that can be published passes', async (t) => {
  t.equal(await failureOf(t, {}), null)
  t.equal(await failureOf(t, { name: '@ada/svc-provider-demo' }), null)
  t.equal(await failureOf(t, { name: '@svc/provider-demo', scripts: { prepare: 'npm run build' } }), null)
})

t.test('each defect of a package is reported', async (t) => {
  const { svc } = packageJson
  const bad: [object, RegExp][] = [
    [{ svc: undefined }, /the "svc" key of package\.json does not fit/],
    [{ svc: { ...svc, kind: 'theme' } }, /\/kind must/],
    [{ svc: { ...svc, kind: 'channel' } }, /svc\.kind is "channel", but the package exports a provider/],
    [{ svc: { ...svc, key: 'other' } }, /svc\.key is "other", but the definition's key is "demo"/],
    [{ svc: { ...svc, sdk: 'latest' } }, /no version range/],
    [{ svc: { ...svc, sdk: '^1' } }, /does not take in this SDK/],
    [{ svc: { ...svc, more: 1 } }, /additional properties/],
    [{ name: 'demo-for-svc' }, /must be called svc-provider-<key>/],
    [{ keywords: [] }, /keywords must have "svc-plugin"/],
    [{ peerDependencies: undefined }, /peerDependencies must have "@svc\/plugin-sdk"/],
    [{ scripts: { postinstall: 'node steal.js' } }, /remove the script "postinstall"/]
  ]
  for (const [changes, message] of bad) t.match(await failureOf(t, changes), message)
})

t.test('a package must have a README and a CHANGELOG', async (t) => {
  for (const name of ['README.md', 'CHANGELOG.md', 'package.json']) {
    t.match(await failureOf(t, {}, { [name]: undefined }), `the package has no ${name} that can be read; add it`)
  }
  t.match(await failureOf(t, {}, { 'README.md': files['README.md']?.replace('## Configuration', '') ?? '' }),
    /README\.md needs the heading "## Configuration"/)
  t.match(await failureOf(t, {}, { 'CHANGELOG.md': 'first version' }), /needs a heading of level 2/)
})

t.test('the examples are packages that can be copied', async (t) => {
  for (const kind of ['provider', 'channel', 'exporter']) {
    const folder = new URL(`../../examples/${kind}-minimal/`, import.meta.url)
    t.match(JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')),
      { svc: { kind }, peerDependencies: { '@svc/plugin-sdk': '^2' } })
    const code = readdirSync(new URL('src/', folder))
      .flatMap((name) => readFileSync(new URL(`src/${name}`, folder), 'utf8').split('\n'))
      .filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line))
    t.ok(code.length <= 75, `the ${kind} has ${code.length} lines of code, and 75 must do`)
  }
})
