/** A file that the bundle copies; the default export is its name in the bundle. */
declare module '*?file' {
  const name: string
  export default name
}
