import sharp from 'sharp'
import { startServer } from '../../core/http/server.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { buildScanTest } from './support.ts'
import type { Test } from 'tap'

export const picture = (width: number, height: number, format: 'png' | 'jpeg' = 'png') =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } }).toFormat(format).toBuffer()
export const PNG = await picture(300, 400)
export const TALL = await picture(600, 1_200, 'jpeg')
export const PDF = Buffer.from('%PDF-1.7\nsmall\n%%EOF\n')

export const FILES: Record<string, [type: string, content: Buffer]> = {
  '/cover.png': ['image/png', PNG],
  '/tall.bin': ['application/octet-stream', TALL],
  '/page.png': ['text/html', Buffer.from('<html>Sign in first</html>')],
  '/lie.png': ['image/png', Buffer.from('<html>Sign in first</html>')],
  '/vector.svg': ['image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
  '/cut.png': ['image/png', PNG.subarray(0, PNG.length / 2)],
  '/manual.pdf': ['application/pdf', PDF],
  '/manual.html': ['application/octet-stream', Buffer.from('<html>')]
}
export const pictures = scriptOf('pictures')

export async function startArtwork (t: Test) {
  const server = await startServer(t, (request, response) => {
    const [type, content] = FILES[request.url ?? ''] ?? []
    if (request.url === '/broken.png') {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': '100000' })
      response.write(PNG)
      response.destroy()
    } else if (content === undefined) {
      response.writeHead(404).end()
    } else {
      response.writeHead(200, { 'content-type': type }).end(content)
    }
  })

  const test = await buildScanTest(t, {
    config: { filesystem: { skip_hash_calculation: true }, plugins: { pictures: { base_url: server.url } } }
  })
  const { put, scan, rom, dataDir } = test

  t.beforeEach(resetScripts)
  return { server, test, put, scan, rom, dataDir }
}
