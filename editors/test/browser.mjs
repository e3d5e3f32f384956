// node browser.mjs URL WORKSPACE PICTURE, as `browser` beside it runs it: the extension in a real VS Code page (code-server with the extension,
// Playwright, Chromium): a breakpoint in a kernel, the variables of lane 7, a step back, the lanes; a picture of it. Then a launch of a program that the editor starts, and one of a program that waits for it.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
const [url, workspace, picture] = process.argv.slice(2);
const { chromium } = createRequire(path.join(process.env.PLAYWRIGHT || process.cwd(), 'x.js'))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await (await browser.newContext({ viewport: { width: 1400, height: 860 } })).newPage();
// Nothing but this machine.
await page.route((u) => u.hostname !== '127.0.0.1' && u.protocol.startsWith('http'), (r) => r.abort());
const timeout = 60000;
const see = (sel, text) => page.locator(sel).filter({ hasText: text }).first().waitFor({ timeout });
const palette = async (text) => {
  await page.keyboard.press('F1');
  const box = page.locator('.quick-input-widget input[type=text]').first();
  await box.waitFor({ timeout });
  await box.fill('>' + text);
  await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first().click({ timeout });
};
const input = async (text) => {
  const box = page.locator('.quick-input-widget input[type=text]').first();
  await box.waitFor({ timeout });
  await box.fill(text);
  await page.keyboard.press('Enter');
};
const step = async (name, f) => { const t = Date.now(); await f(); console.log(`ok   ${name} (${Date.now() - t} ms)`); };
try {
  await step('page opens', async () => {
    const file = `vscode-remote://${new URL(url).host}${workspace}/blur.cl`;
    await page.goto(`${url}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(JSON.stringify([['openFile', file]]))}`, { timeout });
    await page.locator('.monaco-workbench').waitFor({ timeout });
  });
  await step('a breakpoint in the kernel', async () => {
    await see('.tab', 'blur.cl');
    // The keyboard goes to the editor once a line is clicked. There are breakpoints once the page knows the extension.
    await page.locator('.view-line').filter({ hasText: 'sum / total' }).first().click({ timeout });
    for (let k = 0; k < 20 && !(await page.locator('.codicon-debug-breakpoint').count()); k++) {
      await page.keyboard.press('F9');
      await page.waitForTimeout(3000);
    }
    await page.locator('.codicon-debug-breakpoint').first().waitFor({ timeout });
  });
  await step('it stops there', async () => {
    await page.keyboard.press('F5');
    await page.locator('.debug-top-stack-frame-line').first().waitFor({ timeout });
    await see('.debug-call-stack', 'blur');
    // Variables have more room then: rows out of sight are not there.
    for (const pane of ['Breakpoints', 'Watch']) await page.locator('.pane-header').filter({ hasText: pane }).first().click({ timeout });
  });
  await step('lane 7: i = 7', async () => {
    await palette('envisa: Look at a Lane');
    await input('7');
    await see('.debug-variables .monaco-list-row', /i\s*=\s*7/);
  });
  await step('a step, and back', async () => {
    await page.locator('.debug-toolbar .codicon-debug-step-over').first().click({ timeout });
    await page.locator('.debug-variables').hover();
    await page.mouse.wheel(0, 400);
    await see('.debug-variables .monaco-list-row', /mean\s*=\s*7\.33/);
    await page.locator('.debug-toolbar .codicon-debug-step-back').first().click({ timeout });
    await see('.debug-variables .monaco-list-row', /mean\s*=\s*0/);
    await page.waitForTimeout(1500);
  });
  await page.screenshot({ path: picture });
  // The next configuration, at the breakpoint that the file has: the program's text has no path, and is known by what it says.
  const next = async (name, said) => {
    await page.keyboard.press('Shift+F5');
    await page.locator('.debug-top-stack-frame-line').first().waitFor({ state: 'detached', timeout });
    await page.keyboard.press('F1');
    const box = page.locator('.quick-input-widget input[type=text]').first();
    await box.waitFor({ timeout });
    await box.fill(`debug ${name}`);
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().click({ timeout });
    await page.locator('.debug-top-stack-frame-line').first().waitFor({ timeout });
    await see('.debug-call-stack', 'blur.cl');
    await see('.debug-variables .monaco-list-row', said);
  };
  const lane = async () => {
    await palette('envisa: Look at a Lane');
    await input('6');
    await see('.debug-variables .monaco-list-row', /i\s*=\s*6/);
  };
  await step('a launch of a program that the editor starts', async () => { await next('a program', /n\s*=\s*16/); await lane(); });
  await step('a launch of a program that waits for the editor', async () => {
    await next('attach', /n\s*=\s*16/);
    await lane();
    await page.keyboard.press('Shift+F5');
    for (let k = 0; k < 100 && !fs.readFileSync(process.env.APP_LOG, 'utf8').includes('14.33, nan'); k++) await page.waitForTimeout(200);
    if (!fs.readFileSync(process.env.APP_LOG, 'utf8').includes('14.33, nan')) throw new Error('the program did not go on');
  });
} catch (e) {
  console.log(`FAIL ${e.message}`);
  await page.screenshot({ path: picture + '.fail.png' });
  process.exitCode = 1;
}
await browser.close();
