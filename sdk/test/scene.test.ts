import t from 'tap'
import { completeDescription, describeProduction } from '../src/scene/index.ts'

const PAGE = 'https://scene.example/1'

t.test('a production is described in one line from its known facts', async (t) => {
  t.equal(describeProduction({
    types: ['Demo', '4K Intro'],
    companies: ['Lantern', 'Beacon'],
    released: Date.UTC(1993, 6, 31),
    parties: ['Pier / Demo #1', 'Pier / Wild', 'Quay', 'Dock'],
    invitation: 'Harbor Party',
    credits: [{ name: 'Wick', role: 'Music' }, { name: 'Ember', role: 'Code' }, { name: 'Ash', role: 'Music' }, { name: 'Gale' }],
    facts: ['without sound'],
    pages: [PAGE, undefined]
  }), 'Demo, 4K Intro by Lantern, Beacon (1993) · Pier / Demo #1 · Pier / Wild · Quay · invitation to Harbor Party' +
    ` · Music: Wick, Ash; Code: Ember; Gale · without sound · ${PAGE}`)
  t.equal(describeProduction({ types: [], companies: ['Wick'], pages: [] }), 'by Wick')
  t.equal(describeProduction({ types: [], companies: [], released: 0, pages: [PAGE] }), `(1970) · ${PAGE}`)
  const credits = Array.from({ length: 9 }, (_none, index) => ({ name: String(index) }))
  t.equal(describeProduction({ types: [], companies: [], credits, pages: [] }), '0, 1, 2, 3, 4, 5, 6, 7')
})

t.test('facts of another provider go before the pages, and no page repeats', async (t) => {
  const other = 'https://other.example/2'
  t.equal(completeDescription(`Demo · ${PAGE}`, { facts: ['#3'], pages: [PAGE, other, undefined] }), `Demo · #3 · ${PAGE} · ${other}`)
  t.equal(completeDescription('Demo', { facts: ['#3'], pages: [other] }), `Demo · #3 · ${other}`)
  t.equal(completeDescription('Demo', { pages: [] }), 'Demo')
})
