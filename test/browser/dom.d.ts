/**
 * The parts of the DOM that journeys use in functions that run within pages. The types of a whole browser contradict
 * those of Node, which the server needs.
 */
interface Element extends EventTarget {
  readonly textContent: string
  readonly childElementCount: number
  readonly id: string
  scrollTop: number
  getAttribute: (name: string) => string | null
  getBoundingClientRect: () => { readonly width: number }
  querySelector: <Found extends Element = HTMLElement>(selector: string) => Found | null
}
interface HTMLElement extends Element {
  readonly innerText: string
  readonly offsetHeight: number
  click: () => void
  focus: () => void
}
interface FileList { readonly length: number }
interface HTMLInputElement extends HTMLElement {
  value: string
  placeholder: string
  checked: boolean
  files: FileList
  select: () => void
}
declare const document: {
  readonly activeElement: HTMLElement | null
  readonly baseURI: string
  readonly body: HTMLElement
  readonly cookie: string
  readonly title: string
  querySelector: <Found extends Element = HTMLElement>(selector: string) => Found | null
  querySelectorAll: <Found extends Element = HTMLElement>(selector: string) => readonly Found[]
}
declare const location: { readonly search: string, readonly pathname: string, readonly href: string }
declare class DataTransfer {
  readonly files: FileList
  readonly items: { add: (file: File) => void }
}
declare class OffscreenCanvas {
  constructor (width: number, height: number)
  getContext: (kind: '2d') => { fillRect: (...box: [x: number, y: number, width: number, height: number]) => void } | null
  convertToBlob: () => Promise<Blob>
}
declare class KeyboardEvent extends Event {
  constructor (type: string, init?: { key: string, bubbles: boolean, cancelable: boolean })
}
declare function requestAnimationFrame (callback: (now: number) => void): number
