declare module 'seek-bzip' {
  interface Input {
    readByte (): number
    read (buffer: Uint8Array, offset: number, length: number): number
    eof (): boolean
  }

  interface Output {
    writeByte (byte: number): void
  }

  /** The parts of `Bunzip.decode`, which allow reading one block at a time. */
  class Bunzip {
    constructor (input: Input, output: Output)
    readonly reader: { read (bits: number): number }
    readonly streamCRC: number
    _start_bunzip (input: Input, output: Output): void
    _init_block (): boolean
    _read_bunzip (): number
  }

  export default Bunzip
}
