import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { features } from '../../plugins/index.ts'
import type { IndexBuildInput, IndexBuildReport } from './index-build.ts'
import { runProgram } from './process.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'

const RECORDS = 600_000
const LOOKUPS = 50_000

/** Renders a record as game databases have them, about 500 bytes of XML. */
const renderRecord = (index: number) => `  <Game>\r
    <Name>Game ${index}</Name>\r
    <DatabaseID>${index}</DatabaseID>\r
    <Platform>Console</Platform>\r
    <ReleaseDate>1995-03-${String(index % 28 + 1).padStart(2, '0')}T00:00:00-05:00</ReleaseDate>\r
    <Overview>Sail a chain of ${index} islands &amp; more, while time runs backwards and the tide comes in again.</Overview>\r
    <MaxPlayers>${index % 4 + 1}</MaxPlayers>\r
    <CommunityRating>${(index % 50) / 10}</CommunityRating>\r
    <Genres>Action; Role-Playing</Genres>\r
    <Developer>Harbor Works ${index % 900}</Developer>\r
    <Publisher>Tidal ${index % 400}</Publisher>\r
  </Game>\r
`

function * renderXml (): Generator<string> {
  yield '<?xml version="1.0" standalone="yes"?>\r\n<LaunchBox>\r\n'
  for (let index = 0; index < RECORDS; index += 100) {
    yield Array.from({ length: Math.min(100, RECORDS - index) }, (_none, next) => renderRecord(index + next)).join('')
  }
  yield '</LaunchBox>\r\n'
}

/** @returns the size of the XML in bytes */
async function writeZip (path: string): Promise<number> {
  let bytes = 0
  function * count () {
    for (const text of renderXml()) {
      bytes += Buffer.byteLength(text)
      yield text
    }
  }
  const zip = new ZipFile()
  zip.addReadStream(Readable.from(count(), { objectMode: false }), 'Metadata.xml')
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(path))
  return bytes
}

async function serve (path: string): Promise<Server> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/zip', 'content-length': statSync(path).size })
    createReadStream(path).pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function toMeasurement ({ build, entries, found, lookupsPerSecond }: IndexBuildReport, mib: number): Measurement {
  return {
    name: `A local index of ${entries.toLocaleString('en')} records, ${Math.round(mib)} MiB of XML in a zip`,
    figures: {
      'seconds to download, unzip, parse and store': build.seconds,
      'processor seconds of the process': build.processorSeconds,
      'lookups of three keys per second': lookupsPerSecond,
      'entries found': found
    },
    targets: [
      { what: 'build', is: build.seconds, most: 60, unit: ' s' },
      { what: 'peak memory of the process', is: build.peakMib ?? 0, most: 300, unit: ' MiB' },
      { what: 'lookups per second', is: lookupsPerSecond, least: 5_000 },
      { what: 'entries', is: entries, least: RECORDS }
    ],
    notes: build.peakMib === null ? ['memory is counted on Linux only'] : []
  }
}

const options = createBench('index', 'measures how a source that is one large file is taken in, and looked up').parse().opts<BenchOptions>()
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const ends: (() => unknown)[] = [() => { rmSync(folder, { recursive: true, force: true }) }]
try {
  if (options.json !== true) process.stdout.write(`${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), load ${loadavg()[0]?.toFixed(2)}\n\n`)
  const bytes = await writeZip(join(folder, 'metadata.zip'))
  const server = await serve(join(folder, 'metadata.zip'))
  ends.unshift(() => server.close())
  const database = await startEmbeddedPostgres({ dataDir: join(folder, 'db'), log: () => {} })
  ends.unshift(() => database.stop())
  await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
  const { port } = server.address() as AddressInfo
  const input: IndexBuildInput = {
    url: `http://127.0.0.1:${port}/metadata.zip`, databaseUrl: database.url, records: RECORDS, lookups: LOOKUPS
  }
  report(toMeasurement(await runProgram('index-build.ts', input), bytes / 1024 ** 2), options)
} finally {
  for (const end of ends) await end()
}
