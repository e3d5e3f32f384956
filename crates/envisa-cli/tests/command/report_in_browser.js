// What is wrong with a page of findings as people see it: a list of sentences. `await`ed in the page.
(async () => {
  const wrong = [];
  const name = (e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute('class') ?? ''}"> "${(e.textContent ?? '').trim().slice(0, 60)}"`;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const box = (e) => e.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;

  // Seen: a box with an area, and nothing in front of its middle.
  const seen = (e, what) => {
    if (e.closest('details:not([open])')) return;
    e.scrollIntoView({ block: 'center', inline: 'center' });
    const b = box(e);
    // A line has a length only.
    const flat = e.tagName.toLowerCase() === 'line' ? Math.max(b.width, b.height) < 2 : b.width < 2 || b.height < 2;
    if (flat) return wrong.push(`${what}: ${name(e)} has no area`);
    const style = getComputedStyle(e);
    if (style.visibility !== 'visible' || style.display === 'none' || Number(style.opacity) < 0.3) {
      return wrong.push(`${what}: ${name(e)} is hidden`);
    }
    const [x, y] = [Math.max(0, b.left) + Math.min(b.width, wide - Math.max(0, b.left)) / 2, b.top + b.height / 2];
    const there = document.elementFromPoint(x, y);
    if (!there || !(e.contains(there) || there.contains(e))) wrong.push(`${what}: ${name(e)} is behind ${there ? name(there) : 'nothing'}`);
  };
  for (const [what, selector, least] of WANTED) {
    const found = all(selector);
    if (found.length < least) wrong.push(`${what}: ${found.length} of ${least} by \`${selector}\``);
    // Of many the first and the last ones.
    const few = found.length > 40 ? [...found.slice(0, 20), ...found.slice(-20)] : found;
    few.forEach((e) => seen(e, what));
  }

  // The page is no wider than the window: what is wide scrolls by itself.
  scrollTo(0, 0);
  if (document.documentElement.scrollWidth > wide + 1) {
    const out = all('body *').filter((e) => box(e).right > wide + 1 && !scrolls(e));
    wrong.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${wide}: ${out.slice(-3).map(name).join('; ')}`);
  }
  function scrolls(e) {
    for (let up = e; up && up !== document.body; up = up.parentElement) {
      if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(up).overflowX)) return true;
    }
    return false;
  }

  // Texts of a drawing are within it and do not cover each other.
  for (const drawing of all('svg')) {
    const [whole, texts] = [box(drawing), all('text', drawing)];
    texts.forEach((t, n) => {
      const b = box(t);
      if (b.left < whole.left - 1 || b.right > whole.right + 1 || b.top < whole.top - 1 || b.bottom > whole.bottom + 1) {
        wrong.push(`${name(t)} is cut off by its drawing`);
      }
      for (const other of texts.slice(n + 1)) {
        const o = box(other);
        const [w, h] = [Math.min(b.right, o.right) - Math.max(b.left, o.left), Math.min(b.bottom, o.bottom) - Math.max(b.top, o.top)];
        if (w > 1 && h > 2) wrong.push(`${name(t)} and ${name(other)} cover each other`);
      }
    });
  }
  // So do blocks of the page and those that follow them.
  const blocks = all('body > *, section > *, pre.source > *').filter((e) => box(e).height > 0).map((e) => [e, box(e)]);
  blocks.forEach(([e, a], n) => {
    for (const [o, b] of blocks.slice(n + 1, n + 6)) {
      if (o.parentElement !== e.parentElement) continue;
      const [w, h] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
      if (w > 1 && h > 2) wrong.push(`${name(e)} and ${name(o)} cover each other`);
    }
  });

  // Texts stand out from what is behind them (WCAG 2.1, 1.4.3: 4.5 to 1), and are large enough.
  const colour = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (e) => {
    for (let up = e; up; up = up.parentElement) {
      const c = colour(getComputedStyle(up).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return DARK ? [18, 18, 18] : [255, 255, 255];
  };
  const said = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || e.closest('details:not([open])') || ['TITLE', 'title', 'STYLE'].includes(e.tagName)) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(colour(e.namespaceURI.endsWith('svg') ? style.fill : style.color)), light(behind(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const key = `${e.tagName}.${e.className}`;
    if (contrast < 4.5 && !said.has(key)) wrong.push(`${name(e)} hardly stands out: ${contrast.toFixed(1)} to 1`);
    if (parseFloat(style.fontSize) < 11 && !said.has(key)) wrong.push(`${name(e)} is small: ${style.fontSize}`);
    said.add(key);
  }

  // Links lead to what is there, and show it.
  for (const a of all('a[href]')) {
    const target = a.getAttribute('href').startsWith('#') && document.getElementById(a.getAttribute('href').slice(1));
    if (!target) { wrong.push(`${name(a)} leads nowhere: ${a.getAttribute('href')}`); continue; }
    a.click();
    await new Promise((done) => setTimeout(done, 20));
    const b = box(target);
    if (b.bottom < 1 || b.top > innerHeight - 1) wrong.push(`${name(a)} does not show ${name(target)}`);
  }
  return wrong;
})()
