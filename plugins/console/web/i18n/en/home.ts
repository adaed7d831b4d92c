/** The start page. */
export const home = {
  title: 'Home',
  greeting: (name: string) => `Hello, ${name}`,
  recent: 'Recently added',
  all: 'Show all'
}
