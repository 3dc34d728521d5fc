// The button tells the platform, which has opened this page in a frame or in a tab, that the registration is complete.
document.getElementById("close").addEventListener("click", () => {
  (window.opener || window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
});
