import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient as createHeyClient } from '@hey-api/openapi-ts'
import { generateSource } from 'oazapfts'
import createClient, { type Client } from 'openapi-fetch'
import openapiTypescript, { astToString } from 'openapi-typescript'
import t from 'tap'
import ts from 'typescript'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { addRom } from '../plugins/roms/support.ts'
import { buildTestApp } from '../support.ts'

// Three generators and three compilations of 50,000 lines take half a minute, too long for the suite.
const FOLDER = join(SERVER_DIR, 'node_modules/.cache/clients')
const OPTIONS: ts.CompilerOptions = {
  strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, noUncheckedIndexedAccess: true,
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'], lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts']
}

const server = await buildTestApp(t)
const { app } = server
await app.listen({ port: 0, host: '127.0.0.1' })
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const document = await (await fetch(`${url}/openapi.json`)).text()
await rm(FOLDER, { recursive: true, force: true })
await mkdir(FOLDER, { recursive: true })
await writeFile(join(FOLDER, 'package.json'), '{"type":"module"}')
await writeFile(join(FOLDER, 'openapi.json'), document)

/** Returns the compiler's diagnostics of a file and its imports. */
function compile (file: string, options: ts.CompilerOptions = {}): string[] {
  const program = ts.createProgram([join(FOLDER, file)], { ...OPTIONS, ...options })
  return ts.getPreEmitDiagnostics(program).map(({ file: place, start, messageText }) =>
    `${place?.fileName}:${start}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
}

t.test('openapi-typescript and openapi-fetch give a client that compiles and works', async (t) => {
  await writeFile(join(FOLDER, 'schema.ts'), astToString(await openapiTypescript(document)))
  const driver = await readFile(new URL('clients/drive.ts.txt', import.meta.url), 'utf8')
  await writeFile(join(FOLDER, 'drive.ts'), driver)
  t.same(compile('drive.ts'), [])

  await addRom(server, { fs_name: 'Game (USA).sfc' })
  const { outputText } = ts.transpileModule(driver, { compilerOptions: { ...OPTIONS, module: ts.ModuleKind.ESNext } })
  await writeFile(join(FOLDER, 'drive.js'), outputText)
  const { drive } = await import(pathToFileURL(join(FOLDER, 'drive.js')).href) as {
    drive (connect: (token?: string) => Client<object>, owner: Client<object>, content: string): Promise<object>
  }
  const connect = (token?: string) =>
    createClient<object>({ baseUrl: url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
  const owner = createClient<object>({ baseUrl: url, headers: server.admin })
  t.match(await drive(connect, owner, 'progress'), { rom: 'Game (USA).sfc', file: 'Game.srm', content: 'progress', operations: Number })
})

t.test('@hey-api/openapi-ts gives a client that compiles', async (t) => {
  await createHeyClient({
    input: join(FOLDER, 'openapi.json'), output: { path: join(FOLDER, 'hey') }, plugins: ['@hey-api/client-fetch'], logs: { level: 'silent' }
  })
  // The generator writes imports without extensions, for a bundler.
  const bundled = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
  t.same(compile('hey/index.ts', bundled), [])
})

t.test('oazapfts gives a client that compiles', async (t) => {
  await writeFile(join(FOLDER, 'oazapfts.ts'), await generateSource(join(FOLDER, 'openapi.json')))
  t.same(compile('oazapfts.ts'), [])
})
