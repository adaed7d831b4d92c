/** The package's own declarations are written for bundlers: Node's resolution does not follow them. */
declare module 'rcheevos' {
  export class RCheevos {
    static initialize (): Promise<RCheevos>
    computeHash (console: number, file: ArrayBuffer): string | null
  }
}
