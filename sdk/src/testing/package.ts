import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { satisfies, validRange } from 'semver'
import { ManifestSchema } from '../manifest.ts'
import { SDK_VERSION } from '../plugin.ts'
import type { AnyPlugin } from './definition.ts'
import { checkSchema } from './schema.ts'

const README_HEADINGS = ['What it does', 'Configuration', 'Limits and attribution', 'Troubleshooting']
// npm blocks these scripts by default, so a plugin that needs one does not work after installation.
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/**
 * Checks that a package can be published as a plugin: its package.json, README.md and CHANGELOG.md.
 *
 * @param packageUrl the package's folder or its package.json, such as `new URL('../package.json', import.meta.url)`.
 */
export async function checkPackage (plugin: AnyPlugin, packageUrl: URL | string) {
  const url = new URL(packageUrl)
  const folder = url.pathname.endsWith('.json') ? new URL('.', url) : new URL(`${url.href.replace(/\/$/, '')}/`)
  const content: unknown = JSON.parse(await readRequired(folder, 'package.json'))
  assert.ok(typeof content === 'object' && content !== null, 'package.json must hold an object')
  checkPackageJson(new Map(Object.entries(content)), plugin)
  await checkReadme(folder)
  const changelog = await readRequired(folder, 'CHANGELOG.md')
  assert.match(changelog, /^## /m, 'CHANGELOG.md needs a heading of level 2 for every version')
}

function checkPackageJson (content: Map<string, unknown>, { kind, definition }: AnyPlugin) {
  const manifest = content.get('svc')
  checkSchema(ManifestSchema, manifest, 'the "svc" key of package.json')
  const { kind: givenKind, key, sdk } = manifest as { kind: string, key: string, sdk: string }
  assert.equal(givenKind, kind, `svc.kind is "${givenKind}", but the package exports a ${kind}`)
  assert.equal(key, definition.key, `svc.key is "${key}", but the definition's key is "${definition.key}"`)
  assert.ok(validRange(sdk) !== null, `svc.sdk is "${sdk}", which is no version range; write "^2"`)
  assert.ok(satisfies(SDK_VERSION, sdk), `svc.sdk is "${sdk}", which does not take in this SDK, ${SDK_VERSION}`)

  const name = String(content.get('name'))
  const accepted = new RegExp(`^(?:@svc/${kind}-|(?:@[a-z0-9._~-]+/)?svc-${kind}-)[a-z0-9._-]+$`)
  assert.match(name, accepted, `the package must be called svc-${kind}-<key> or @scope/svc-${kind}-<key>, not "${name}"`)
  const keywords = content.get('keywords')
  assert.ok(Array.isArray(keywords) && keywords.includes('svc-plugin'), 'keywords must have "svc-plugin"')
  const peers = Object.keys(content.get('peerDependencies') ?? {})
  assert.ok(peers.includes('@svc/plugin-sdk'), 'peerDependencies must have "@svc/plugin-sdk"')
  const scripts = Object.keys(content.get('scripts') ?? {})
  for (const script of INSTALL_SCRIPTS) assert.ok(!scripts.includes(script), `remove the script "${script}"`)
}

async function checkReadme (folder: URL) {
  const readme = await readRequired(folder, 'README.md')
  const headings = [...readme.matchAll(/^#{1,3} +(.+?) *$/gm)].map((match) => match[1])
  for (const heading of README_HEADINGS) {
    assert.ok(headings.includes(heading), `README.md needs the heading "## ${heading}"`)
  }
}

async function readRequired (folder: URL, name: string): Promise<string> {
  try {
    return await readFile(new URL(name, folder), 'utf8')
  } catch (err) {
    throw new Error(`the package has no ${name} that can be read; add it`, { cause: err })
  }
}
