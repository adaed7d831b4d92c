import { type PDFDocumentProxy, type PDFPageProxy, PDFWorker, getDocument } from 'pdfjs-dist'
import jbig2 from 'pdfjs-dist/wasm/jbig2.wasm?file'
import openjpeg from 'pdfjs-dist/wasm/openjpeg.wasm?file'
import { startWorker } from './pdf-worker.ts'

/** The decoders of scanned pages, by the names that pdf.js asks for. */
const DECODERS: Readonly<Record<string, string>> = { 'jbig2.wasm': jbig2, 'openjpeg.wasm': openjpeg }
/** The most pixels of a canvas, because phones draw no larger ones. */
const PIXELS_MAX = 16_777_216

/** Loads the files that pdf.js needs for some manuals only. */
class Decoders {
  async fetch ({ filename }: { filename: string }): Promise<Uint8Array> {
    const name = DECODERS[filename]
    if (name === undefined) throw new Error(`The bundle has no ${filename}`)
    const response = await fetch(new URL(name, import.meta.url))
    if (!response.ok) throw new Error(`${filename}: ${response.status}`)
    return new Uint8Array(await response.arrayBuffer())
  }
}

export interface Size { width: number, height: number }

/** A manual whose pages are drawn one by one. */
export interface Manual {
  pages: number
  /** The size of a page in its own units. */
  sizeOf: (page: number) => Promise<Size>
  /** Draws a page. @param scale pixels per unit @param signal stops the drawing */
  draw: (page: number, canvas: HTMLCanvasElement, scale: number, signal: AbortSignal) => Promise<void>
  /** Returns the text of a page; empty for a scan. */
  readText: (page: number) => Promise<string>
  close: () => void
}

function createManual (pdf: PDFDocumentProxy, close: () => void): Manual {
  const sizeOf = (page: PDFPageProxy): Size => {
    const { width, height } = page.getViewport({ scale: 1 })
    return { width, height }
  }
  return {
    pages: pdf.numPages,
    sizeOf: async (number) => sizeOf(await pdf.getPage(number)),
    async draw (number, canvas, wanted, signal) {
      const page = await pdf.getPage(number)
      signal.throwIfAborted()
      const { width, height } = sizeOf(page)
      const viewport = page.getViewport({ scale: Math.min(wanted, Math.sqrt(PIXELS_MAX / (width * height))) })
      canvas.width = Math.floor(viewport.width)
      canvas.height = Math.floor(viewport.height)
      const task = page.render({ canvas, viewport })
      signal.addEventListener('abort', () => { task.cancel() }, { once: true })
      await task.promise
    },
    async readText (number) {
      const { items } = await (await pdf.getPage(number)).getTextContent()
      return items.map((item) => 'str' in item ? item.str : '').join(' ').trim()
    },
    close
  }
}

/** Opens a PDF file. Only the parts that are looked at are loaded. @throws if it cannot be read */
export async function openManual (address: string, signal: AbortSignal): Promise<Manual> {
  const port = startWorker()
  const worker = PDFWorker.create({ port })
  const task = getDocument({
    url: address,
    worker,
    isEvalSupported: false,
    useSystemFonts: true,
    useWorkerFetch: false,
    enableXfa: false,
    BinaryDataFactory: Decoders
  })
  const close = () => {
    void task.destroy().finally(() => {
      worker.destroy()
      port.terminate()
    })
  }
  signal.addEventListener('abort', close, { once: true })
  return createManual(await task.promise, close)
}
